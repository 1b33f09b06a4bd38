"""Boundary events: a public hook that says which of Bosun's boundaries a message has crossed.

A step is emitted at the real place and nowhere else. Names and fields are a public contract
(`STEPS_VERSION`); class names never appear in them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

STEPS_VERSION: Final = 1

STEP_NAMES: Final = (
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


@dataclass(frozen=True)
class Step:
    """One crossed boundary. Raises `ValueError` for a name outside `STEP_NAMES`."""

    name: str
    conversation_id: str
    fields: Mapping[str, JSON] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in STEP_NAMES:
            raise ValueError(f"unknown step {self.name!r}: the names are {', '.join(STEP_NAMES)}")


class StepSink(Protocol):
    """Receives steps, in the order in which they happen."""

    def emit(self, step: Step) -> None:
        """Take one step; must neither block nor raise."""
        ...


class LoggedSteps:
    """The production sink: one debug line a step."""

    def emit(self, step: Step) -> None:
        """Write the step to the log."""
        logging.getLogger("bosun.steps").debug("%s %s %s", step.name, step.conversation_id, dict(step.fields))
