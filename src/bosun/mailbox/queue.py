"""The queue seam: nudges that say which conversation has work, and why.

Delivery is at least once: a nudge may come twice or be lost, and carries no work itself. The work is in the
mailbox, and a worker that finds none has nothing to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

NudgeReason: TypeAlias = Literal["message", "resume", "repair", "busy"]
"""A message came; a paused turn goes on; a fault or restart is mended; the conversation was busy before."""


@dataclass(frozen=True)
class Nudge:
    """A conversation that has work."""

    conversation_id: str
    reason: NudgeReason


@dataclass(frozen=True)
class Delivery:
    """A nudge on its way to a worker. The token is the queue's own name for this delivery."""

    nudge: Nudge
    token: str


class ConversationQueue(Protocol):
    """Carries nudges from routes and workers to workers. Several workers may receive at once."""

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Take a nudge over, to be received after so many seconds of the app's time."""
        ...

    async def receive(self) -> Delivery:
        """Wait for the next nudge that is due. May be cancelled while it waits."""
        ...

    async def done(self, delivery: Delivery) -> None:
        """Say that a delivery has been worked on to its end. One that never is comes again."""
        ...
