"""What a test sees while a turn runs, and what it can do then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from seatrial.inputs import Input


@dataclass(frozen=True)
class ModelRequest:
    """The agent asked the model. The request is held until the handler returns. ``nth`` counts them in the call."""

    nth: int


@dataclass(frozen=True)
class ToolRequest:
    """The model's answer asks for a call of a tool. The agent gets the answer when all its calls were told.

    ``args`` are the arguments; the text itself where the model wrote no JSON object.
    """

    name: str
    args: Any
    nth: int


@dataclass(frozen=True)
class ReplyDelivered:
    """A message of the agent stands on Slack. The agent hears of it when the handler returns."""

    text: str
    nth: int


@dataclass(frozen=True)
class Paused:
    """A turn stopped before it was finished. Its rest waits in the queue until the handler returns."""

    nth: int


Progress = ModelRequest | ToolRequest | ReplyDelivered | Paused
"""What a handler is told. On the web nothing is delivered: a reply is there when it is stored."""


class Actions(Protocol):
    """What a handler can do while the turn is held."""

    async def send(self, item: Input) -> None:
        """Send an input to the call's conversation and return when it is in the mailbox."""

    async def advance(self, seconds: float) -> None:
        """Move time forward, for the clock and for all who wait; they wake in order, each at his own time."""


OnProgress = Callable[[Progress, Actions], Awaitable[None]]
"""A handler. It is called for one thing at a time, and what it raises fails the call."""
