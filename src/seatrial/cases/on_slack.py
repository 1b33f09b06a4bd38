"""Compare the calls that reached Slack with those that a case expects."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.cases.arguments import fits
from seatrial.cases.called import told_arguments, told_json, told_times
from seatrial.cases.expectations import SlackCallWords
from seatrial.cases.visible import listed
from seatrial.report.record import CheckRecord
from seatrial.slack import SlackCall


def check_slack(expected: Sequence[SlackCallWords], calls: Sequence[SlackCall]) -> list[CheckRecord]:
    """Return one check for each entry, and one for each method that is named: that it was not called otherwise.

    What an agent looks up on the way is its own affair, so that a method that no entry names is free. An empty list
    says that nothing was called.
    """
    if not expected:
        return [CheckRecord("slack", "no call", listed([_call(call) for call in calls]), not calls)]
    checks = [_entry(words, calls) for words in expected]
    for method in dict.fromkeys(words.method for words in expected):
        left = [c for c in calls if c.method == method and not any(_fits(words, c) for words in expected)]
        seen = listed([_call(call) for call in left])
        checks.append(CheckRecord(f"slack.{method}", f"no other call of {method}", seen, not left))
    return checks


def _entry(words: SlackCallWords, calls: Sequence[SlackCall]) -> CheckRecord:
    count = sum(_fits(words, call) for call in calls)
    named = [call for call in calls if call.method == words.method]
    seen = f"{told_times(count)} among {listed([_call(call) for call in named])}" if named else "never called"
    where = {None: "", True: " in the thread", False: " elsewhere"}[words.in_thread]
    error = "" if words.error is None else f", refused: {words.error}"
    wanted = f"{told_times(words.times)} {words.method}({told_arguments(words.args)}){where}{error}"
    return CheckRecord(f"slack.{words.method}", wanted, seen, count == words.times)


def _fits(words: SlackCallWords, call: SlackCall) -> bool:
    return (
        words.method == call.method
        and words.error == call.error
        and words.in_thread in (None, call.here)
        and fits(words.args, call.args)
    )


def _call(call: SlackCall) -> str:
    where = " in the thread" if call.here else ""
    error = "" if call.error is None else f", refused: {call.error}"
    return f"{call.method}({told_json(call.args)}){where}{error}"
