"""Compare what a call did with what its case expects."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seatrial.cases.called import check_calls
from seatrial.cases.expectations import ExpectWords, TextWords
from seatrial.cases.on_slack import check_slack
from seatrial.cases.turns import TurnWords
from seatrial.cases.visible import listed, visible
from seatrial.conversation import Conversation
from seatrial.report.record import CheckRecord
from seatrial.steps import first_missing


def check_turn(words: TurnWords, conversation: Conversation) -> tuple[CheckRecord, ...]:
    """Return every check of one turn, those that hold too."""
    return (*_expectations(words.expect, conversation), _steps(words.steps, conversation))


def _expectations(expect: ExpectWords, conversation: Conversation) -> list[CheckRecord]:
    checks: list[CheckRecord] = []
    if expect.status is not None:
        seen = [turn.status for turn in conversation.turns]
        checks.append(CheckRecord("status", listed(expect.status), listed(seen), seen == list(expect.status)))
    if expect.replies is not None:
        texts = [reply.text for reply in conversation.replies]
        if expect.replies.count is not None:
            count = expect.replies.count
            checks.append(CheckRecord("replies.count", str(count), str(len(texts)), len(texts) == count))
        checks.extend(_text("replies", expect.replies, "\n".join(texts)))
    if expect.tool_calls is not None:
        checks.extend(check_calls(expect.tool_calls, conversation.tool_calls))
    if expect.title is not None:
        checks.extend(_text("title", expect.title, conversation.title or ""))
    for what, wanted, there in (
        ("reactions", expect.reactions, conversation.reactions),
        ("statuses", expect.statuses, conversation.statuses),
        ("compactions", expect.compactions, tuple(made.kind for made in conversation.compactions)),
    ):
        if wanted is not None:
            shown = [listed([visible(text) for text in texts]) for texts in (wanted, there)]
            checks.append(CheckRecord(what, shown[0], shown[1], tuple(wanted) == there))
    if expect.slack is not None:
        checks.extend(check_slack(expect.slack, conversation.slack))
    return checks


def _text(what: str, words: TextWords, seen: str) -> list[CheckRecord]:
    """Check a text: letter for letter, with case, since a case says exactly what it means."""
    shown = visible(seen)
    return [
        *(CheckRecord(f"{what}.contain", visible(part), shown, part in seen) for part in words.contain),
        *(
            CheckRecord(f"{what}.not_contain", f"not {visible(part)}", shown, part not in seen)
            for part in words.not_contain
        ),
        *(CheckRecord(f"{what}.match", part, shown, re.search(part, seen) is not None) for part in words.match),
    ]


def _steps(declared: Sequence[str], conversation: Conversation) -> CheckRecord:
    seen = [step.name for step in conversation.steps]
    if not declared:
        return CheckRecord("steps", "none", listed(seen), not seen)
    missing = first_missing(declared, seen)
    expected = listed(declared) if missing is None else f"{listed(declared)}; '{missing}' is missing"
    return CheckRecord("steps", expected, listed(seen), missing is None)
