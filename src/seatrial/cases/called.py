"""Compare the tools that a turn called with those that its case expects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from seatrial.cases.arguments import Expected, fits
from seatrial.cases.expectations import ExactWords, ToolCallWords
from seatrial.cases.visible import listed, visible
from seatrial.conversation import ToolCall
from seatrial.nearest import did_you_mean
from seatrial.report.record import CheckRecord


def check_calls(expected: Sequence[ToolCallWords], calls: Sequence[ToolCall]) -> list[CheckRecord]:
    """Return one check for each entry, and one that no call was left over. Order is not asserted."""
    if not expected:
        return [CheckRecord("tool_calls", "none", listed([_call(call) for call in calls]), not calls)]
    checks = [_entry(words, calls) for words in expected]
    left = [call for call in calls if not any(_fits(words, call) for words in expected)]
    checks.append(CheckRecord("tool_calls", "no other call", listed([_call(call) for call in left]), not left))
    return checks


def _entry(words: ToolCallWords, calls: Sequence[ToolCall]) -> CheckRecord:
    count = sum(_fits(words, call) for call in calls)
    named = [call for call in calls if call.name == words.name]
    if named:
        seen = f"{told_times(count)} among {listed([_call(call) for call in named])}"
    else:
        others = sorted({call.name for call in calls})
        seen = f"'{words.name}' was never called{did_you_mean(words.name, others)}"
    return CheckRecord(f"tool_calls.{words.name}", _expected(words), seen, count == words.times)


def _fits(words: ToolCallWords, call: ToolCall) -> bool:
    return words.name == call.name and words.status in (None, call.status) and fits(words.args, call.input)


def _expected(words: ToolCallWords) -> str:
    status = "" if words.status is None else f" {words.status}"
    return f"{told_times(words.times)} {words.name}({told_arguments(words.args)}){status}"


def told_arguments(args: Expected) -> str:
    """Say what is expected of the arguments of a call."""
    said = []
    for name, argument in args.items():
        if isinstance(argument, ExactWords):
            said.append(f"{name}: {told_json(argument.root)}")
            continue
        said += [f"{name} contains {visible(part)}" for part in argument.contain]
        said += [f"{name} does not contain {visible(part)}" for part in argument.not_contain]
        said += [f"{name} matches {part}" for part in argument.match]
    return ", ".join(said)


def told_times(count: int) -> str:
    """Say how often."""
    return "once" if count == 1 else f"{count} times"


def _call(call: ToolCall) -> str:
    return f"{call.name}({told_json(call.input)}) {call.status}"


def told_json(value: Any) -> str:
    """Return a value as JSON that a person can read in one line."""
    return visible(json.dumps(value, ensure_ascii=False, sort_keys=True), quotes="")
