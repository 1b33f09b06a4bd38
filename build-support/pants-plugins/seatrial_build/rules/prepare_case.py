"""Prepare the sealed process of a case, in YAML or in Python."""

from __future__ import annotations

from dataclasses import dataclass

from pants.core.goals.test import TestSubsystem
from pants.core.util_rules.source_files import SourceFiles, SourceFilesRequest
from pants.engine.addresses import Addresses
from pants.engine.fs import Digest, MergeDigests, PathGlobs
from pants.engine.process import ProcessCacheScope
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import DependenciesRequest, ExplicitlyProvidedDependencies, SourcesField, Targets
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.rules.case_kinds import AnyCase
from seatrial_build.rules.find_gate_code import is_code
from seatrial_build.rules.prepare_runtime import Runtime, RuntimeRequest
from seatrial_build.rules.read_case import CaseContents
from seatrial_build.rules.read_test import ContentsRequest
from seatrial_build.rules.seal_process import SealedProcess, SealedProcessRequest
from seatrial_build.subsystem import SeatrialSubsystem


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
    for a run that records. ``words`` are added to what the runner is told.
    """

    case: AnyCase
    replaced: Digest | None = None
    attempt: Attempt | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseProcess:
    """The process of a case, with what is needed to judge it."""

    process: SealedProcess
    policy: str
    timeout: int


@dataclass(frozen=True)
class CasePartsRequest:
    case: AnyCase
    replaced: Digest | None = None


@dataclass(frozen=True)
class CaseParts:
    """What a case's process is made of: the code that it shares with other cases, the files that are its own, and
    what its runner is told of it alone."""

    code: Addresses
    inputs: Digest
    words: tuple[str, ...]


@rule(desc="Collect the parts of a case's process", level=LogLevel.DEBUG)
async def collect_case_parts(request: CasePartsRequest) -> CaseParts:
    case = request.case
    contents, explicit = await MultiGet(
        Get(CaseContents, ContentsRequest(case)),
        Get(ExplicitlyProvidedDependencies, DependenciesRequest(case.dependencies)),
    )
    named = await Get(Targets, Addresses(explicit.includes))
    code = {target.address for target in named if is_code(target)}
    own = {case.path, case.recording}
    data = PathGlobs([*(path for path in contents.data if path not in own), *contents.neighbours])
    present = PathGlobs([case.path, *(path for path in contents.data if path in own)])
    shared, more, mine = await MultiGet(
        Get(Digest, PathGlobs, data),
        Get(SourceFiles, SourceFilesRequest(t.get(SourcesField) for t in named if t.address not in code)),
        Get(Digest, PathGlobs, present),
    )
    inputs = await Get(Digest, MergeDigests([shared, more.snapshot.digest, request.replaced or mine]))
    shared_code = Addresses(sorted({*contents.composition.code, *contents.code, *code}))
    return CaseParts(shared_code, inputs, case.words(contents.composition.plugins))


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
                case.runner,
                *parts.words,
                *_arguments(case),
                *(attempt.arguments if attempt else _strain(case, seatrial.repeat)),
                *request.words,
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


def _arguments(case: AnyCase) -> tuple[str, ...]:
    return (
        f"--binding={case.binding.value}",
        f"--out={places.OUT}",
        f"--address={case.address.spec}",
        f"--cache={places.CACHE}",
    )


def _strain(case: AnyCase, repeat: int) -> tuple[str, ...]:
    """How a case is made to show what hangs on chance. A recording run is spared it."""
    times = case.repeat.value or repeat
    return (
        *((f"--repeat={times}",) if times != 1 else ()),
        *(("--beside-busy-core",) if case.beside_busy_core.value else ()),
    )


def rules():
    return collect_rules()
