"""A record as a person reads it in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.report.record import CallRecord, TrialRecord
from seatrial.verdict import Verdict


def render(record: TrialRecord) -> str:
    """Word the record: the verdict and its one reason, what was said, each check, and what to run next.

    A pass is one line.
    """
    passed = record.verdict == Verdict.PASSED.value
    lines = [f"{record.verdict.upper()} {record.address}" + ("" if passed else f": {record.reason}")]
    if record.seal.get("policy") == "off":
        lines.append("  NOT SEALED: the network was not cut off (policy 'off'); this verdict proves less")
    if passed:
        return "\n".join(lines)
    lines += [f"  {line}" for line in record.detail.splitlines()]
    several = len({call.conversation for call in record.calls}) > 1
    for number, call in enumerate(record.calls, start=1):
        lines += ["", f"  {turn_name(number, call.conversation if several else None)}: {_statuses(call)}"]
        lines += [f"    {line}" for line in _transcript(call)]
        for check in call.checks:
            mark = "holds" if check.holds else "DOES NOT HOLD"
            lines.append(
                f"    {check.what} {mark}: expected {check.expected}" + ("" if check.holds else f", seen {check.seen}")
            )
    told = {record.reason, *record.detail.splitlines()}
    others = [finding for finding in record.findings if finding["reason"] not in told]
    if others:
        lines += ["", "  also:"] + [f"    {finding['verdict']}: {finding['reason']}" for finding in others]
    lines += ["", f"  {record.cure}"] if record.cure else []
    lines += [f"  rerun: {record.rerun}"]
    return "\n".join(lines)


def turn_name(number: int, conversation: int | None) -> str:
    """Name the turn that a case's n-th input started, with its conversation where a trial has several."""
    return f"turn {number}" if conversation is None else f"turn {number} (conversation {conversation})"


def _statuses(call: CallRecord) -> str:
    return ", ".join(call.statuses) or "no turn ran"


def _transcript(call: CallRecord) -> Iterator[str]:
    """What was said, and each call of a tool where it happened."""
    for place in range(len(call.transcript) + 1):
        for tool in call.tool_calls:
            if tool["before"] == place:
                yield from _lines(_tool(tool))
        if place < len(call.transcript):
            who, text = call.transcript[place]
            yield from _lines(f"{who}: {text}")


def _tool(call: Mapping[str, Any]) -> str:
    arguments = call["input"] if isinstance(call["input"], str) else json.dumps(call["input"], ensure_ascii=False)
    came = "" if call["output"] is None else f": {call['output']}"
    return f"tool {call['name']}({arguments}) -> {call['status']}{came}"


def _lines(text: str) -> Iterator[str]:
    """Further lines of a text are set in, so that they are not read as somebody else's."""
    first, *others = text.splitlines() or [""]
    yield first
    yield from (f"  {line}" for line in others)
