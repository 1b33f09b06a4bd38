"""Read what a Python eval refers to: what its file imports, its target names, and its recording."""

from __future__ import annotations

from dataclasses import dataclass

from pants.engine.addresses import Address, Addresses
from pants.engine.fs import PathGlobs, Paths
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import Targets
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.rules.case_kinds import AnyCase, EvalTestFieldSet
from seatrial_build.rules.find_gate_code import GateCode, GateCodeRequest, ReadFiles, ReadFilesRequest, is_code
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.read_case import CaseContents, CaseContentsRequest, Composition, CompositionRequest


@dataclass(frozen=True)
class ContentsRequest:
    """Ask what a case of either kind refers to."""

    case: AnyCase


@dataclass(frozen=True)
class TestContentsRequest:
    """Ask what a Python eval refers to. ``plugins`` is None where its target names none."""

    address: Address
    path: str
    recording: str
    binding_path: str
    plugins: tuple[str, ...] | None
    reads: tuple[str, ...]


@rule(desc="Read what a case refers to", level=LogLevel.DEBUG)
async def read_contents(request: ContentsRequest) -> CaseContents:
    case = request.case
    assert case.binding.value is not None
    if isinstance(case, EvalTestFieldSet):
        test = TestContentsRequest(
            case.address, case.path, case.recording, case.binding.value, case.plugins.value, case.reads.value or ()
        )
        return await Get(CaseContents, TestContentsRequest, test)
    return await Get(CaseContents, CaseContentsRequest(case.path, case.binding.value))


@rule(desc="Read a Python eval", level=LogLevel.DEBUG)
async def read_test(request: TestContentsRequest, owners: OwnersByPath) -> CaseContents:
    composition, code, read, paths = await MultiGet(
        Get(Composition, CompositionRequest(request.binding_path, request.plugins, places.TEST_RUNNER)),
        Get(GateCode, GateCodeRequest(request.address)),
        Get(ReadFiles, ReadFilesRequest(request.reads)),
        Get(Paths, PathGlobs(request.reads)),
    )
    targets = await Get(Targets, Addresses(code.addresses))
    named = (request.binding_path, request.recording)
    present = [path for path in named if owners.of(path)]
    # Evals that read one another's text would be a cycle.
    evals = {*owners.evals, *(address.maybe_convert_to_target_generator() for address in owners.evals)}
    return CaseContents(
        composition,
        code=tuple(target.address for target in targets if is_code(target)),
        data=tuple(sorted({*present, *paths.files})),
        data_owners=tuple(sorted({*(a for path in present for a in owners.of(path)), *read.addresses} - evals)),
        absent_owners=tuple(sorted({a for path in named if path not in present for a in owners.of_absent(path)})),
    )


def rules():
    return collect_rules()
