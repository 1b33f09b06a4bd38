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
class CodeRequest:
    """Ask for the source files behind these targets and all that they depend on."""

    code: Addresses


@dataclass(frozen=True)
class Code:
    """All of a runtime that the repository itself holds. ``source_roots`` are where modules are imported from."""

    sources: Digest
    source_roots: tuple[str, ...]


@dataclass(frozen=True)
class RuntimeRequest:
    """Ask for the runtime of this code. Its direct dependencies alone are the key: whoever has the same
    shares the runtime, so nothing that belongs to one process may be among them.

    ``constraints`` are given for code that runs on another Python than the project's.
    """

    code: Addresses
    constraints: InterpreterConstraints | None = None


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


@rule(desc="Collect the code that gates or cases share", level=LogLevel.DEBUG)
async def collect_code(request: CodeRequest) -> Code:
    transitive = await Get(TransitiveTargets, TransitiveTargetsRequest(request.code))
    sources = await Get(PythonSourceFiles, PythonSourceFilesRequest(transitive.closure, include_files=True))
    return Code(sources.source_files.snapshot.digest, sources.source_roots)


@rule(desc="Prepare the runtime that gates or cases share", level=LogLevel.DEBUG)
async def prepare_runtime(request: RuntimeRequest, seal: SealScript, python_setup: PythonSetup) -> Runtime:
    of_project = InterpreterConstraints(python_setup.interpreter_constraints)
    constraints = request.constraints or of_project
    code, requirements, python = await MultiGet(
        Get(Code, CodeRequest(request.code)),
        Get(Pex, RequirementsPexRequest(request.code, hardcoded_interpreter_constraints=constraints)),
        # The seal runs on the project's Python, whatever runs behind it.
        Get(PythonExecutable, InterpreterConstraints, of_project),
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
        Get(Digest, MergeDigests([code.sources, seal.digest])),
    )
    return Runtime(pex, digest, code.source_roots, python.path)


def rules():
    return collect_rules()
