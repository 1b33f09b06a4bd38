"""The public steps of a turn, and the log in which a trial keeps what it saw of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

STEP_NAMES: tuple[str, ...] = (
    "message.accepted",
    "message.taken",
    "context.loaded",
    "context.rendered",
    "model.requested",
    "model.answered",
    "tool.called",
    "tool.finished",
    "guardian.reviewed",
    "turn.routed",
    "reply.delivered",
    "turn.completed",
    "turn.failed",
    "turn.paused",
    "compaction.done",
    "task.finished",
)
"""Every step that an agent may report and a case may declare. The list is closed on purpose: a step
that no agent knows could never be seen, and a case that declares it could never pass."""


@dataclass(frozen=True)
class StepSeen:
    """One step that the agent reported on its public hook."""

    name: str
    conversation_id: str
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class StepLog:
    """All steps of one trial, in the order in which the agent reported them."""

    def __init__(self) -> None:
        self._seen: list[StepSeen] = []
        self._unknown: list[str] = []

    def add(self, name: str, conversation_id: str, fields: Mapping[str, Any]) -> None:
        """Keep one step. An unknown name is kept apart: it breaks the trial, not the agent."""
        if name not in STEP_NAMES:
            self._unknown.append(name)
            return
        self._seen.append(StepSeen(name, conversation_id, MappingProxyType(dict(fields))))

    def mark(self) -> int:
        """Return a position; `since` gives what came after it."""
        return len(self._seen)

    def since(self, mark: int) -> tuple[StepSeen, ...]:
        """Return the steps that came after `mark`."""
        return tuple(self._seen[mark:])

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names that the agent reported and that are not in the closed list."""
        return tuple(self._unknown)


def first_missing(declared: Iterable[str], seen: Iterable[str]) -> str | None:
    """Return the first declared step that was not seen in the declared order, or None.

    Other steps may come between; a step that is declared twice has to be seen twice.
    """
    stream = iter(seen)
    for name in declared:
        if not any(name == candidate for candidate in stream):
            return name
    return None
