"""How a turn can end, and what a model's answer means for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bosun.log.events import NO_REPLY
from bosun.model.errors import FailureKind


@dataclass(frozen=True)
class Answered:
    """The turn succeeds with these words."""

    text: str


@dataclass(frozen=True)
class Silent:
    """The model said, explicitly, that nothing should be said."""


@dataclass(frozen=True)
class Failed:
    """The turn fails; people see the sentence of the kind."""

    kind: FailureKind


Outcome: TypeAlias = Answered | Silent | Failed


class TurnStopped(Exception):
    """A person has stopped the turn: it ends without a reply."""


def read_answer(text: str) -> Answered | Silent | None:
    """Read a complete answer of the model. None is an empty answer, which is never taken for a silence.

    The sentinel among other words is no silence either; people do not see it.
    """
    said = text.strip()
    if said == NO_REPLY:
        return Silent()
    words = said.replace(NO_REPLY, "").strip()
    return Answered(words) if words else None
