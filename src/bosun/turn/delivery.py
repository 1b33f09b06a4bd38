"""Ending a turn where people see it. On the web the commit is the delivery: one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from bosun.log.events import DeliveryStarted
from bosun.log.messages import InboundMessage, Turn
from bosun.log.store import ConversationLog, Usage
from bosun.model.errors import SENTENCES
from bosun.steps import Step, StepSink
from bosun.turn.lifecycle import Answered, Failed, Outcome

STOPPED: Final = "I stopped. I will stay out of this until you write again."
"""What people read when a stop ended a turn."""


class Delivery(Protocol):
    """How the words of a turn leave. Raises only when a store is away or another attempt has the turn."""

    async def begin(self, turn: Turn) -> None:
        """Show people, where that can be shown, that the turn runs."""
        ...

    async def resume(self, turn: Turn) -> DeliveryStarted | None:
        """End the turn by the delivery that an earlier attempt began. Return None where none did."""
        ...

    async def end(self, turn: Turn, outcome: Outcome, usage: Usage) -> None:
        """End the turn with this outcome, unless another attempt has ended it already."""
        ...

    async def stop(
        self, conversation_id: str, turn: Turn | None, messages: Sequence[InboundMessage], usage: Usage
    ) -> None:
        """End the open turn, if there is one, with the notice of a stop, and discard what it has not taken in."""
        ...

    async def pause(self, turn: Turn, number: int, usage: Usage) -> None:
        """Say that the turn's n-th slice is over, and the turn is not."""
        ...


class WebDelivery:
    """Commits outcomes, and says so after the commit."""

    def __init__(self, log: ConversationLog, steps: StepSink) -> None:
        self._log = log
        self._steps = steps

    async def begin(self, turn: Turn) -> None:
        """The log shows it."""

    async def resume(self, turn: Turn) -> DeliveryStarted | None:
        """A delivery that is a commit is never half done."""
        return None

    async def end(self, turn: Turn, outcome: Outcome, usage: Usage) -> None:
        """End the turn with this outcome, unless another attempt has ended it already."""
        if isinstance(outcome, Failed):
            if await self._log.commit_failure(turn, outcome.kind, SENTENCES[outcome.kind], usage):
                self._emit("turn.failed", turn, kind=outcome.kind)
        elif isinstance(outcome, Answered):
            if await self._log.commit_reply(turn, outcome.text, usage):
                self._emit("reply.delivered", turn)
                self._emit("turn.completed", turn, status="succeeded")
        elif await self._log.commit_no_reply(turn, usage):
            self._emit("turn.completed", turn, status="no_reply")

    async def stop(
        self, conversation_id: str, turn: Turn | None, messages: Sequence[InboundMessage], usage: Usage
    ) -> None:
        """End the open turn, if there is one, with the notice of a stop, and discard what it has not taken in."""
        ended = await self._log.commit_stop(conversation_id, messages, STOPPED, usage)
        if ended is not None:
            self._emit("turn.completed", ended, status="no_reply")

    async def pause(self, turn: Turn, number: int, usage: Usage) -> None:
        """Say that the turn's n-th slice is over, and the turn is not."""
        if await self._log.pause_turn(turn, number, usage):
            self._emit("turn.paused", turn, slice=number)

    def _emit(self, name: str, turn: Turn, **fields: str | int) -> None:
        self._steps.emit(Step(name, turn.conversation_id, dict(fields)))
