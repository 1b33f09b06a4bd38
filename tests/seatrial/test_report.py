"""A record is read by people: what happened stands where it happened, and what to do stands at the end."""

from __future__ import annotations

from typing import Any

from seatrial.report.record import CallRecord, CheckRecord
from seatrial.report.text import render
from seatrial.report.trial import trial_record
from seatrial.verdict import Cause, Finding

FAILED = Finding(Cause.FAILED, "turn 1: status does not hold", detail="expected: a\nseen:     b")


def tool(before: int, **values: Any) -> dict[str, Any]:
    given = {"name": "look", "status": "succeeded", "input": {"query": "launch"}, "output": "On Friday."}
    return {**given, "before": before, **values}


def call(conversation: int = 1, tools: tuple[dict[str, Any], ...] = (), status: str = "succeeded") -> CallRecord:
    return CallRecord(
        conversation_id=f"c{conversation}",
        conversation=conversation,
        transcript=(("Morgan", "When?\nAnd where?"), ("Bosun", "Friday.")),
        statuses=(status,),
        tool_calls=tools,
        title=None,
        steps=(),
        checks=(CheckRecord("status", "succeeded", status, status == "succeeded"),),
    )


def text(*calls: CallRecord, findings: tuple[Finding, ...] = (FAILED,), command: str = "./pants") -> list[str]:
    record = trial_record(
        findings,
        address="evals:x",
        case="x.yaml",
        kind="eval_case",
        seal={},
        contracts={},
        calls=calls,
        requests=(),
        command=command,
    )
    return render(record).splitlines()


def test_a_tool_call_stands_between_what_was_said_before_and_after_it() -> None:
    lines = text(call(tools=(tool(1), tool(1, input='{"query', status="failed", output="not JSON\nat all"))))
    start = lines.index("  turn 1: succeeded")
    assert lines[start + 1 : start + 8] == [
        "    Morgan: When?",
        "      And where?",
        '    tool look({"query": "launch"}) -> succeeded: On Friday.',
        '    tool look({"query) -> failed: not JSON',
        "      at all",
        "    Bosun: Friday.",
        "    status holds: expected succeeded",
    ]


def test_a_call_without_a_reply_after_it_stands_at_the_end() -> None:
    lines = text(call(tools=(tool(2, status="started", output=None),)))
    assert lines[lines.index("    Bosun: Friday.") + 1] == '    tool look({"query": "launch"}) -> started'


def test_turns_are_numbered_and_their_conversation_is_named_only_where_there_are_several() -> None:
    assert [line for line in text(call(1), call(1)) if line.startswith("  turn")] == [
        "  turn 1: succeeded",
        "  turn 2: succeeded",
    ]
    assert [line for line in text(call(1), call(1), call(2, status="failed")) if line.startswith("  turn")] == [
        "  turn 1 (conversation 1): succeeded",
        "  turn 2 (conversation 1): succeeded",
        "  turn 3 (conversation 2): failed",
    ]


def test_a_pass_is_one_line() -> None:
    assert text(call(), findings=()) == ["PASSED evals:x"]


def test_mistakes_are_counted_and_listed_and_other_findings_are_not_among_them() -> None:
    mistakes = tuple(Finding(Cause.INVALID, f"case.yaml:{line}: no") for line in (1, 2))
    lines = text(findings=(*mistakes, FAILED))
    assert lines[:3] == ["INVALID evals:x: 2 mistake(s) in the case's files", "  case.yaml:1: no", "  case.yaml:2: no"]
    assert "    failed: turn 1: status does not hold" in lines


def test_what_has_no_fitting_recording_is_cured_by_recording_unless_the_finding_knows_better() -> None:
    unused = Finding(Cause.RECORDING_UNUSED, "1 recorded answer(s) were not used")
    assert "  record: do record evals:x" in text(findings=(unused,), command="do")
    stale = Finding(Cause.CONTRACT_DIFFERS, "a fixture is older", cure="edit: the fixture")
    assert "  edit: the fixture" in text(findings=(stale,))
    assert not [line for line in text(findings=(FAILED,)) if line.startswith("  record:")]


def test_what_runs_it_again_begins_with_the_command_of_its_lane() -> None:
    assert text(call())[-1] == "  rerun: ./pants test evals:x"
    assert text(call(), command="./pants --lane")[-1] == "  rerun: ./pants --lane test evals:x"
