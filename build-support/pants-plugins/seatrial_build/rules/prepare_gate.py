"""Prepare the sealed process of a gate or a test."""

from __future__ import annotations

from dataclasses import dataclass

from pants.backend.python.dependency_inference.module_mapper import PythonModuleOwners, PythonModuleOwnersRequest
from pants.backend.python.subsystems.setup import PythonSetup
from pants.backend.python.target_types import InterpreterConstraintsField, PythonSourceField
from pants.backend.python.util_rules.interpreter_constraints import InterpreterConstraints
from pants.core.goals.test import TestSubsystem
from pants.core.util_rules.source_files import SourceFiles, SourceFilesRequest
from pants.engine.addresses import Address, Addresses
from pants.engine.fs import Digest, MergeDigests, PathGlobs, Paths, Snapshot
from pants.engine.process import ProcessCacheScope
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import (
    DependenciesRequest,
    ExplicitlyProvidedDependencies,
    Tags,
    Target,
    Targets,
    WrappedTarget,
    WrappedTargetRequest,
)
from pants.source.source_root import SourceRootsRequest, SourceRootsResult
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.core.lanes import lane_of
from seatrial_build.rules.find_gate_code import GateCode, GateCodeRequest, package_globs
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.prepare_runtime import Runtime, RuntimeRequest
from seatrial_build.rules.seal_process import SealedProcess, SealedProcessRequest
from seatrial_build.subsystem import SeatrialSubsystem
from seatrial_build.targets.evals import EvalTestSourceField
from seatrial_build.targets.fields import ReadsField, SealField, TimeoutField
from seatrial_build.targets.gates import (
    GateSourceField,
    TypingDependenciesField,
    TypingPackagesField,
    TypingPythonField,
    TypingRootsField,
)


@dataclass(frozen=True)
class GateProcessRequest:
    address: Address


@dataclass(frozen=True)
class GateProcess:
    """The process of a gate, with what is needed to judge it."""

    address: Address
    kind: str
    process: SealedProcess
    policy: str
    timeout: int
    lane: str


@dataclass(frozen=True)
class GatePartsRequest:
    address: Address


@dataclass(frozen=True)
class GateParts:
    """What is a gate's own in its process."""

    runtime: Runtime
    argv: tuple[str, ...]
    inputs: Digest
    source_roots: tuple[str, ...]


@dataclass(frozen=True)
class TypingPartsRequest:
    target: Target


@rule(desc="Prepare the process of a gate", level=LogLevel.DEBUG)
async def prepare_gate(
    request: GateProcessRequest, test_subsystem: TestSubsystem, seatrial: SeatrialSubsystem
) -> GateProcess:
    wrapped = await Get(WrappedTarget, WrappedTargetRequest(request.address, description_of_origin="a gate"))
    target = wrapped.target
    policy = target[SealField].value or seatrial.seal
    timeout = target[TimeoutField].value
    assert timeout is not None
    parts = await Get(GateParts, GatePartsRequest(request.address))
    sealed = await Get(
        SealedProcess,
        SealedProcessRequest(
            address=request.address,
            runtime=parts.runtime,
            argv=(*parts.argv, f"--kind={target.alias}", f"--address={request.address.spec}", f"--out={places.OUT}"),
            inputs=parts.inputs,
            description=f"Run {target.alias} {request.address}",
            policy=policy,
            timeout=timeout,
            source_roots=parts.source_roots,
            cache_scope=ProcessCacheScope.PER_SESSION if test_subsystem.force else ProcessCacheScope.SUCCESSFUL,
        ),
    )
    return GateProcess(request.address, target.alias, sealed, policy, timeout, lane_of(target[Tags].value))


@rule(desc="Collect the parts of a gate's process", level=LogLevel.DEBUG)
async def collect_gate_parts(request: GatePartsRequest) -> GateParts:
    wrapped = await Get(WrappedTarget, WrappedTargetRequest(request.address, description_of_origin="a gate"))
    target = wrapped.target
    if target.has_field(TypingPackagesField):
        return await Get(GateParts, TypingPartsRequest(target))
    code = await Get(GateCode, GateCodeRequest(request.address))
    python = target[InterpreterConstraintsField].value
    constraints = InterpreterConstraints(python) if python else None
    runtime, source, read, tools = await MultiGet(
        Get(Runtime, RuntimeRequest(code.addresses, constraints)),
        Get(SourceFiles, SourceFilesRequest([target[GateSourceField]])),
        Get(Snapshot, PathGlobs(target[ReadsField].value or ())),
        Get(Digest, PathGlobs([places.GATE_RUNNER, places.RUNNER_SUPPORT])),
    )
    roots, inputs = await MultiGet(
        Get(SourceRootsResult, SourceRootsRequest, SourceRootsRequest.for_files(_modules(read.files))),
        Get(Digest, MergeDigests([source.snapshot.digest, read.digest, tools])),
    )
    return GateParts(
        runtime,
        argv=(places.GATE_RUNNER, *source.files),
        inputs=inputs,
        source_roots=tuple(sorted({root.path for root in roots.path_to_root.values()})),
    )


@rule(desc="Collect the parts of a typing gate's process", level=LogLevel.DEBUG)
async def collect_typing_parts(
    request: TypingPartsRequest, python_setup: PythonSetup, owners: OwnersByPath
) -> GateParts:
    target = request.target
    packages = target[TypingPackagesField]
    # Scripts that are run by their paths are no Python targets, and are checked all the same.
    globs = package_globs(packages)
    explicit, mypy, paths, tools = await MultiGet(
        Get(ExplicitlyProvidedDependencies, DependenciesRequest(target[TypingDependenciesField])),
        Get(PythonModuleOwners, PythonModuleOwnersRequest("mypy", resolve=python_setup.default_resolve)),
        Get(Paths, PathGlobs(globs)),
        Get(Digest, PathGlobs([places.TYPING_RUNNER, places.RUNNER_SUPPORT, places.MYPY_CONFIG, *globs])),
    )
    read = await Get(Targets, Addresses(sorted({owner for path in paths.files for owner in owners.of(path)})))
    # Of a test, what it imports counts and not what it reads: an edited case is no reason to check types again.
    tests = [
        found.address for found in read if found.has_field(GateSourceField) or found.has_field(EvalTestSourceField)
    ]
    sources = {found.address for found in read if found.has_field(PythonSourceField)} - {*tests}
    imported = await MultiGet(Get(GateCode, GateCodeRequest(address)) for address in tests)
    code = Addresses(
        sorted(
            {*sources, *explicit.includes, *mypy.unambiguous, *(each for found in imported for each in found.addresses)}
            - {*tests}
        )
    )
    runtime = await Get(Runtime, RuntimeRequest(code))
    return GateParts(
        runtime,
        argv=(
            places.TYPING_RUNNER,
            f"--config={places.MYPY_CONFIG}",
            f"--python-version={target[TypingPythonField].value}",
            *(f"--root={root}" for root in target[TypingRootsField].value or ()),
            *(f"--package={package}" for package in packages.value or ()),
        ),
        inputs=tools,
        source_roots=(),
    )


def _modules(paths: tuple[str, ...]) -> list[str]:
    return [path for path in paths if path.endswith(".py")]


def rules():
    return collect_rules()
