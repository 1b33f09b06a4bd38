"""What a running turn and its mailbox agree on: what came meanwhile, whether it is stopped, and how the turn ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from bosun.log.messages import InboundMessage, Turn

CrossActor: TypeAlias = Literal["follow_up", "steer"]
"""What another actor's message does to a running turn: it waits for a turn of its own, or it joins."""


class LeaseLost(Exception):
    """Another worker has taken the conversation over: whoever gets this stops working on it."""


@dataclass(frozen=True)
class SteeringRead:
    """What a turn finds when it looks: messages that join it, in arrival order, or that it is stopped."""

    messages: tuple[InboundMessage, ...] = ()
    stopped: bool = False


class Steering(Protocol):
    """One running turn's view of its mailbox. A turn looks before each request, and before it acts on an answer."""

    async def read(self, turn: Turn) -> SteeringRead:
        """Return what there is for the turn now. Raises `LeaseLost`."""
        ...

    async def joined(self, messages: Sequence[InboundMessage]) -> None:
        """Forget messages whose rows the turn has committed. Before that a crash would lose them."""
        ...

    async def until_stopped(self) -> None:
        """Return when the turn is to stop; a request that runs is aborted then."""
        ...

    async def discarded(self) -> tuple[InboundMessage, ...]:
        """Return every message that the stop has taken out of the mailbox, the turn's own among them."""
        ...


@dataclass(frozen=True)
class Ended:
    """The log says that the turn is over, and that these messages are handled."""

    message_ids: tuple[str, ...]


@dataclass(frozen=True)
class Paused:
    """The turn is open, and its rest is for another slice."""


TurnRun: TypeAlias = Ended | Paused
