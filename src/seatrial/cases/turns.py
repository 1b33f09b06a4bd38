"""The items of a case's ``turns``: what is sent, when, and in which conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from seatrial.cases.during import DuringWords
from seatrial.cases.expectations import ExpectWords
from seatrial.cases.faults import FaultWords
from seatrial.cases.sends import SendWords
from seatrial.cases.span import Span
from seatrial.cases.words import Listed, Words
from seatrial.nearest import did_you_mean
from seatrial.steps import STEP_NAMES


def _known_step(name: str) -> str:
    if name not in STEP_NAMES:
        raise ValueError(f"there is no step '{name}'{did_you_mean(name, STEP_NAMES)}")
    return name


def _reply_number(text: Any) -> int:
    found = re.fullmatch("reply ([1-9][0-9]{0,3})", text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r} names no reply: write 'reply 1' for the first of the conversation")
    return int(found[1])


class ForkWords(Words):
    """Where a fork branches off: after a reply, counted from the conversation's beginning, history included."""

    at: Annotated[int, BeforeValidator(_reply_number)]


class TurnWords(Words):
    """One turn under test: what is sent, what has to come of it, and the way that it has to go."""

    send: Annotated[list[SendWords], Listed, Field(min_length=1)]
    """The inputs of the turn; several arrive as one batch."""
    new_conversation: bool = False
    """Whether the turn starts a conversation of its own, on the same agent."""
    fork: ForkWords | None = None
    """Where the turn branches off the conversation so far; it and the turns after it are sent to the fork."""
    advance: Span | None = None
    """How many seconds time is moved before the inputs are sent."""
    during: Annotated[list[DuringWords], Listed] = Field(default_factory=list)
    """What happens while the turn runs."""
    faults: Annotated[list[FaultWords], Listed] = Field(default_factory=list)
    """What fails while the turn runs."""
    expect: ExpectWords
    steps: list[Annotated[str, AfterValidator(_known_step)]]
    """The steps that the turn has to take, in this order, others between them. None at all: nothing may happen."""


class AdvanceWords(Words):
    """An item that sends nothing: only time passes, for the clock and for all who wait."""

    advance: Span


def _kind(item: Any) -> str:
    """Tell a turn from an item that only moves time: that names nothing of a turn but ``advance``.

    The tags are no words of a case, so that a mistake's place is not taken for another one of the file.
    """
    words = set(item) if isinstance(item, Mapping) else set()
    return "(time)" if "advance" in words and not words & (set(TurnWords.model_fields) - {"advance"}) else "(turn)"


ItemWords = Annotated[
    Annotated[TurnWords, Tag("(turn)")] | Annotated[AdvanceWords, Tag("(time)")], Discriminator(_kind)
]


def misplaced(turns: Any, *, history: bool = False) -> list[tuple[tuple[str | int, ...], str]]:
    """Return what is wrong with the order of items, as (place below ``turns``, what to do).

    ``history`` tells whether there is a conversation before the first turn. It reads the items as they stand in the
    file, so that it finds its mistakes beside all others.
    """
    items = turns if isinstance(turns, list) else []
    sends = [position for position, item in enumerate(items) if isinstance(item, dict) and _kind(item) == "(turn)"]
    found: list[tuple[tuple[str | int, ...], str]] = []
    if sends and items[sends[0]].get("new_conversation") is True:
        place = (sends[0], "new_conversation")
        found.append((place, "the first turn starts a conversation anyway: leave 'new_conversation' out"))
    if sends and not history and "fork" in items[sends[0]]:
        place = (sends[0], "fork")
        found.append((place, "the first turn has nothing to branch off: leave 'fork' out, or give a history"))
    for position in sends:
        if "fork" in items[position] and items[position].get("new_conversation") is True:
            found.append(((position, "fork"), "a fork is a conversation of its own: leave 'new_conversation' out"))
    after = sends[-1] if sends else -1
    for position, item in enumerate(items[after + 1 :], start=after + 1):
        if isinstance(item, dict) and "advance" in item:
            problem = "nothing is sent after this time has passed: send something, or leave it out"
            found.append(((position, "advance"), problem))
    return found
