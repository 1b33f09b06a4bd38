"""Prepare the sealed process of a case, and infer what the case depends on."""

from __future__ import annotations

from dataclasses import dataclass

from pants.backend.python.target_types import PythonRequirementsField, PythonSourceField
from pants.core.goals.test import TestFieldSet, TestSubsystem
from pants.core.util_rules.source_files import SourceFiles, SourceFilesRequest
from pants.engine.addresses import Addresses
from pants.engine.fs import Digest, MergeDigests, PathGlobs
from pants.engine.process import ProcessCacheScope
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import (
    DependenciesRequest,
    ExplicitlyProvidedDependencies,
    FieldSet,
    InferDependenciesRequest,
    InferredDependencies,
    SourcesField,
    Targets,
)
from pants.engine.unions import UnionRule
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.core.references import recording_of
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.prepare_runtime import Runtime, RuntimeRequest
from seatrial_build.rules.read_case import CaseContents, CaseContentsRequest
from seatrial_build.rules.seal_process import SealedProcess, SealedProcessRequest
from seatrial_build.subsystem import SeatrialSubsystem
from seatrial_build.targets.cases import BindingField, CaseDependenciesField, CaseSourceField
from seatrial_build.targets.fields import GatesField, SealField, TimeoutField


@dataclass(frozen=True)
class CaseFieldSet(TestFieldSet):
    required_fields = (CaseSourceField, BindingField)

    source: CaseSourceField
    binding: BindingField
    dependencies: CaseDependenciesField
    gates: GatesField
    seal: SealField
    timeout: TimeoutField

    @property
    def path(self) -> str:
        """The case's path from the repository's top."""
        return self.source.file_path

    @property
    def contents_request(self) -> CaseContentsRequest:
        assert self.binding.value is not None
        return CaseContentsRequest(self.path, self.binding.value)


@dataclass(frozen=True)
class CaseInferenceFieldSet(FieldSet):
    required_fields = (CaseSourceField, BindingField)

    source: CaseSourceField
    binding: BindingField


class InferCaseDependencies(InferDependenciesRequest):
    infer_from = CaseInferenceFieldSet


@rule(desc="Infer the dependencies of a case", level=LogLevel.DEBUG)
async def infer_case_dependencies(request: InferCaseDependencies, owners: OwnersByPath) -> InferredDependencies:
    binding = request.field_set.binding.value
    assert binding is not None
    contents = await Get(CaseContents, CaseContentsRequest(request.field_set.source.file_path, binding))
    return InferredDependencies(
        {
            *contents.composition.code,
            *contents.data_owners,
            *contents.absent_owners,
            *owners.seal,
            *owners.build_definition,
        }
        - {request.field_set.address, request.field_set.address.maybe_convert_to_target_generator()}
    )


@dataclass(frozen=True)
class Attempt:
    """How a recording run differs from an ordinary one: what its process is told, the sockets that it needs,
    and the seconds that it may take."""

    arguments: tuple[str, ...]
    sockets: tuple[str, ...]
    timeout: int


@dataclass(frozen=True)
class CaseProcessRequest:
    """Ask for the process of a case.

    ``replaced`` holds a case and its recording to use in place of the repository's; ``attempt`` is given
    for a run that records.
    """

    case: CaseFieldSet
    replaced: Digest | None = None
    attempt: Attempt | None = None


@dataclass(frozen=True)
class CaseProcess:
    """The process of a case, with what is needed to judge it."""

    process: SealedProcess
    policy: str
    timeout: int


@dataclass(frozen=True)
class CasePartsRequest:
    case: CaseFieldSet
    replaced: Digest | None = None


@dataclass(frozen=True)
class CaseParts:
    """What a case's process is made of: the code that it shares with other cases, and the files that are its own."""

    code: Addresses
    inputs: Digest


@rule(desc="Collect the parts of a case's process", level=LogLevel.DEBUG)
async def collect_case_parts(request: CasePartsRequest) -> CaseParts:
    case = request.case
    contents, explicit = await MultiGet(
        Get(CaseContents, CaseContentsRequest, case.contents_request),
        Get(ExplicitlyProvidedDependencies, DependenciesRequest(case.dependencies)),
    )
    named = await Get(Targets, Addresses(explicit.includes))
    code = {target.address for target in named if _is_code(target)}
    own = {case.path, recording_of(case.path)}
    data = PathGlobs([*(path for path in contents.data if path not in own), *contents.neighbours])
    present = PathGlobs([case.path, *(path for path in contents.data if path in own)])
    shared, more, mine = await MultiGet(
        Get(Digest, PathGlobs, data),
        Get(SourceFiles, SourceFilesRequest(t.get(SourcesField) for t in named if t.address not in code)),
        Get(Digest, PathGlobs, present),
    )
    inputs = await Get(Digest, MergeDigests([shared, more.snapshot.digest, request.replaced or mine]))
    return CaseParts(Addresses(sorted({*contents.composition.code, *code})), inputs)


@rule(desc="Prepare the process of a case", level=LogLevel.DEBUG)
async def prepare_case(
    request: CaseProcessRequest, test_subsystem: TestSubsystem, seatrial: SeatrialSubsystem
) -> CaseProcess:
    case, attempt = request.case, request.attempt
    policy = case.seal.value or seatrial.seal
    timeout = attempt.timeout if attempt else case.timeout.value
    assert timeout is not None
    parts = await Get(CaseParts, CasePartsRequest(case, request.replaced))
    runtime = await Get(Runtime, RuntimeRequest(parts.code))
    force = test_subsystem.force or attempt is not None
    sealed = await Get(
        SealedProcess,
        SealedProcessRequest(
            address=case.address,
            runtime=runtime,
            # -P: the sandbox's top is no place to import from.
            argv=(
                "-P",
                "-m",
                places.CASE_RUNNER,
                *_arguments(case, seatrial.repeat),
                *(attempt.arguments if attempt else ()),
            ),
            inputs=parts.inputs,
            description=f"{'Record' if attempt else 'Run'} {case.address}",
            policy=policy,
            timeout=timeout,
            caches=FrozenDict({places.CACHE_NAME: places.CACHE}),
            keep_sockets=attempt.sockets if attempt else (),
            cache_scope=ProcessCacheScope.PER_SESSION if force else ProcessCacheScope.SUCCESSFUL,
        ),
    )
    return CaseProcess(sealed, policy, timeout)


def _arguments(case: CaseFieldSet, repeat: int) -> tuple[str, ...]:
    return (
        case.path,
        f"--binding={case.binding.value}",
        f"--out={places.OUT}",
        f"--address={case.address.spec}",
        f"--cache={places.CACHE}",
        *((f"--repeat={repeat}",) if repeat != 1 else ()),
    )


def _is_code(target) -> bool:
    return target.has_field(PythonSourceField) or target.has_field(PythonRequirementsField)


def rules():
    return [*collect_rules(), UnionRule(InferDependenciesRequest, InferCaseDependencies)]
