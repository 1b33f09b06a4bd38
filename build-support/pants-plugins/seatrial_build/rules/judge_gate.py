"""Judge gates and tests. A gate that many cases wait for is judged once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pants.core.goals.test import TestDebugRequest, TestFieldSet, TestRequest, TestResult, TestSubsystem
from pants.engine.addresses import Address
from pants.engine.internals.session import RunId
from pants.engine.process import FallibleProcessResult, InteractiveProcess, Process
from pants.engine.rules import Get, collect_rules, rule
from pants.util.logging import LogLevel

from seatrial_build.rules.prepare_gate import GateProcess, GateProcessRequest
from seatrial_build.rules.verdict import Evidence, EvidenceRequest, GateVerdict, origin_of, test_result
from seatrial_build.subsystem import SeatrialSubsystem
from seatrial_build.targets.gates import GateSourceField, TypingPackagesField


@dataclass(frozen=True)
class GateRequest:
    """Ask for the verdict of the gate at this address."""

    address: Address


@dataclass(frozen=True)
class GateFieldSet(TestFieldSet):
    required_fields = (GateSourceField,)

    source: GateSourceField


@dataclass(frozen=True)
class TypingFieldSet(TestFieldSet):
    required_fields = (TypingPackagesField,)

    packages: TypingPackagesField


class GateTestRequest(TestRequest):
    tool_subsystem = SeatrialSubsystem
    field_set_type = GateFieldSet
    supports_debug = True


class TypingTestRequest(TestRequest):
    tool_subsystem = SeatrialSubsystem
    field_set_type = TypingFieldSet
    supports_debug = True


@rule(desc="Verdict", level=LogLevel.DEBUG)
async def judge_gate(request: GateRequest, test_subsystem: TestSubsystem, run_id: RunId) -> GateVerdict:
    gate = await Get(GateProcess, GateProcessRequest(request.address))
    result = await Get(FallibleProcessResult, Process, gate.process.process)
    evidence = await Get(
        Evidence,
        EvidenceRequest(
            *(gate.address, gate.kind, result, origin_of(result, run_id), gate.policy, gate.timeout),
            key=gate.process.key,
        ),
    )
    return GateVerdict(
        gate.address,
        gate.kind,
        evidence.judgement,
        evidence.reports,
        origin=evidence.origin,
        output=evidence.output,
        unsealed_by_choice=gate.policy == "off",
        lane=gate.lane,
        show=test_subsystem.output,
    )


@rule(desc="Test a gate", level=LogLevel.DEBUG)
async def run_gate(batch: GateTestRequest.Batch[GateFieldSet, Any]) -> TestResult:
    return test_result(await Get(GateVerdict, GateRequest(batch.single_element.address)))


@rule(desc="Test types", level=LogLevel.DEBUG)
async def run_typing_gate(batch: TypingTestRequest.Batch[TypingFieldSet, Any]) -> TestResult:
    return test_result(await Get(GateVerdict, GateRequest(batch.single_element.address)))


@rule(desc="Debug a gate", level=LogLevel.DEBUG)
async def debug_gate(batch: GateTestRequest.Batch[GateFieldSet, Any]) -> TestDebugRequest:
    gate = await Get(GateProcess, GateProcessRequest(batch.single_element.address))
    return _debug(gate)


@rule(desc="Debug a typing gate", level=LogLevel.DEBUG)
async def debug_typing_gate(batch: TypingTestRequest.Batch[TypingFieldSet, Any]) -> TestDebugRequest:
    gate = await Get(GateProcess, GateProcessRequest(batch.single_element.address))
    return _debug(gate)


def _debug(gate: GateProcess) -> TestDebugRequest:
    return TestDebugRequest(
        InteractiveProcess.from_process(gate.process.process, forward_signals_to_process=False, restartable=True)
    )


def rules():
    return [*collect_rules(), *GateTestRequest.rules(), *TypingTestRequest.rules()]
