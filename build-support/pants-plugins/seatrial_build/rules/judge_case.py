"""Judge cases: their gates first, then their own process, whose record has the word."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pants.core.goals.test import TestDebugRequest, TestRequest, TestResult, TestSubsystem
from pants.engine.addresses import UnparsedAddressInputs
from pants.engine.fs import CreateDigest, Snapshot
from pants.engine.internals.session import RunId
from pants.engine.process import FallibleProcessResult, InteractiveProcess, Process
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import Targets
from pants.util.logging import LogLevel

from seatrial_build.core.evidence import RECORD_FORMAT
from seatrial_build.core.junit import junit
from seatrial_build.core.places import COMMAND
from seatrial_build.core.verdicts import GateOutcome, Hindrance, hindrance
from seatrial_build.rules.case_kinds import AnyCase, CaseFieldSet, EvalTestFieldSet
from seatrial_build.rules.judge_gate import GateRequest
from seatrial_build.rules.prepare_case import CaseProcess, CaseProcessRequest
from seatrial_build.rules.read_case import CaseContents
from seatrial_build.rules.read_test import ContentsRequest
from seatrial_build.rules.verdict import (
    CaseVerdict,
    Evidence,
    EvidenceRequest,
    GateVerdict,
    origin_of,
    report_files,
    test_result,
)
from seatrial_build.subsystem import SeatrialSubsystem

IN_THE_OPEN = ("--interactive",)
"""Tells the runner of Python evals that a person looks on, and may stop at a breakpoint."""


class CaseTestRequest(TestRequest):
    tool_subsystem = SeatrialSubsystem
    field_set_type = CaseFieldSet
    supports_debug = True


class EvalTestRequest(TestRequest):
    tool_subsystem = SeatrialSubsystem
    field_set_type = EvalTestFieldSet
    supports_debug = True


@dataclass(frozen=True)
class CaseRequest:
    """Ask for the verdict of a case."""

    case: AnyCase


@dataclass(frozen=True)
class GatesRequest:
    """Ask whether the gates of a case let it run."""

    case: AnyCase


@dataclass(frozen=True)
class Passage:
    """What the gates of a case say; without a hindrance it may run."""

    hindrance: Hindrance | None


@rule(desc="Ask the gates of a case", level=LogLevel.DEBUG)
async def ask_gates(request: GatesRequest) -> Passage:
    case = request.case
    contents = await Get(CaseContents, ContentsRequest(case))
    own, added = await MultiGet(
        Get(
            Targets,
            UnparsedAddressInputs(
                case.gates.value or (),
                owning_address=case.address,
                description_of_origin=f"the `gates` field of {case.address}",
            ),
        ),
        Get(
            Targets,
            UnparsedAddressInputs(
                contents.composition.gates,
                owning_address=None,
                description_of_origin=f"`plugin_gates` in {case.binding.value}",
            ),
        ),
    )
    addresses = sorted({target.address for target in (*own, *added)})
    verdicts = await MultiGet(Get(GateVerdict, GateRequest(address)) for address in addresses)
    outcomes = [GateOutcome(verdict.address.spec, verdict.judgement) for verdict in verdicts]
    return Passage(hindrance(outcomes, command=f"{COMMAND} test"))


@rule(desc="Verdict", level=LogLevel.DEBUG)
async def judge_case(request: CaseRequest, test_subsystem: TestSubsystem, run_id: RunId) -> CaseVerdict:
    address, kind = request.case.address, request.case.kind
    passage = await Get(Passage, GatesRequest(request.case))
    if passage.hindrance is not None:
        judgement, gates = passage.hindrance.judgement, passage.hindrance.gates
        record = {
            "format": RECORD_FORMAT,
            "address": address.spec,
            "kind": kind,
            "verdict": judgement.verdict,
            "reason": judgement.reason,
            "cure": judgement.cure,
            "blocked_by": list(gates),
        }
        content = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
        reports = await Get(
            Snapshot, CreateDigest(report_files(address, content, junit(address.spec, kind, judgement)))
        )
        return CaseVerdict(
            address, kind, judgement, reports, origin="not run", blocked_by=gates, lane=request.case.lane
        )
    prepared = await Get(CaseProcess, CaseProcessRequest(request.case))
    result = await Get(FallibleProcessResult, Process, prepared.process.process)
    evidence = await Get(
        Evidence,
        EvidenceRequest(
            *(address, kind, result, origin_of(result, run_id), prepared.policy, prepared.timeout),
            key=prepared.process.key,
        ),
    )
    return CaseVerdict(
        address,
        kind,
        evidence.judgement,
        evidence.reports,
        origin=evidence.origin,
        output=evidence.output,
        unsealed_by_choice=prepared.policy == "off",
        lane=request.case.lane,
        show=test_subsystem.output,
    )


@rule(desc="Test a case", level=LogLevel.DEBUG)
async def run_case(batch: CaseTestRequest.Batch[CaseFieldSet, Any]) -> TestResult:
    return test_result(await Get(CaseVerdict, CaseRequest(batch.single_element)))


@rule(desc="Test a Python eval", level=LogLevel.DEBUG)
async def run_test(batch: EvalTestRequest.Batch[EvalTestFieldSet, Any]) -> TestResult:
    return test_result(await Get(CaseVerdict, CaseRequest(batch.single_element)))


@rule(desc="Debug a case", level=LogLevel.DEBUG)
async def debug_case(batch: CaseTestRequest.Batch[CaseFieldSet, Any]) -> TestDebugRequest:
    """Run a case on the terminal. Its gates are not asked: one debugs what is not right yet."""
    prepared = await Get(CaseProcess, CaseProcessRequest(batch.single_element))
    return _debug(prepared)


@rule(desc="Debug a Python eval", level=LogLevel.DEBUG)
async def debug_test(batch: EvalTestRequest.Batch[EvalTestFieldSet, Any]) -> TestDebugRequest:
    """Run a Python eval on the terminal, its gates not asked, with what it prints and its breakpoints."""
    return _debug(await Get(CaseProcess, CaseProcessRequest(batch.single_element, words=IN_THE_OPEN)))


def _debug(prepared: CaseProcess) -> TestDebugRequest:
    return TestDebugRequest(
        InteractiveProcess.from_process(prepared.process.process, forward_signals_to_process=False, restartable=True)
    )


def rules():
    return [*collect_rules(), *CaseTestRequest.rules(), *EvalTestRequest.rules()]
