"""Prepare what processes with the same code have in common: requirements, sources, the seal."""

from __future__ import annotations

from dataclasses import dataclass

from pants.backend.python.subsystems.setup import PythonSetup
from pants.backend.python.util_rules.interpreter_constraints import InterpreterConstraints
from pants.backend.python.util_rules.pex import Pex, PexRequest, PythonExecutable, VenvPex
from pants.backend.python.util_rules.pex_from_targets import RequirementsPexRequest
from pants.backend.python.util_rules.python_sources import PythonSourceFiles, PythonSourceFilesRequest
from pants.engine.addresses import Addresses
from pants.engine.fs import Digest, GlobMatchErrorBehavior, MergeDigests, PathGlobs
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import TransitiveTargets, TransitiveTargetsRequest
from pants.util.logging import LogLevel

from seatrial_build.core import places


@dataclass(frozen=True)
class RuntimeRequest:
    """Ask for the runtime of this code. Its direct dependencies alone are the key: whoever has the same
    shares the runtime, so nothing that belongs to one process may be among them."""

    code: Addresses


@dataclass(frozen=True)
class Runtime:
    """The environment, the sources with the seal, the source roots, and the interpreter of the seal."""

    pex: VenvPex
    sources: Digest
    source_roots: tuple[str, ...]
    interpreter: str


@dataclass(frozen=True)
class SealScript:
    digest: Digest


@rule(desc="Read the seal", level=LogLevel.DEBUG)
async def read_seal() -> SealScript:
    return SealScript(
        await Get(
            Digest,
            PathGlobs(
                [places.SEAL_FILES],
                glob_match_error_behavior=GlobMatchErrorBehavior.error,
                description_of_origin="the seal, which every gate and case needs",
            ),
        )
    )


@rule(desc="Prepare the runtime that gates or cases share", level=LogLevel.DEBUG)
async def prepare_runtime(request: RuntimeRequest, seal: SealScript, python_setup: PythonSetup) -> Runtime:
    constraints = InterpreterConstraints(python_setup.interpreter_constraints)
    transitive = await Get(TransitiveTargets, TransitiveTargetsRequest(request.code))
    sources, requirements, python = await MultiGet(
        Get(PythonSourceFiles, PythonSourceFilesRequest(transitive.closure, include_files=True)),
        Get(Pex, RequirementsPexRequest(request.code, hardcoded_interpreter_constraints=constraints)),
        Get(PythonExecutable, InterpreterConstraints, constraints),
    )
    pex, digest = await MultiGet(
        Get(
            VenvPex,
            PexRequest(
                # Hidden, since it lies at the sandbox's top, where gates look for the repository's own files.
                output_filename=".runtime.pex",
                internal_only=True,
                pex_path=[requirements],
                interpreter_constraints=constraints,
            ),
        ),
        Get(Digest, MergeDigests([sources.source_files.snapshot.digest, seal.digest])),
    )
    return Runtime(pex, digest, sources.source_roots, python.path)


def rules():
    return collect_rules()
