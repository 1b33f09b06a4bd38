"""Ending a turn where people see it. On the web the commit is the delivery: one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bosun.log.messages import InboundMessage, Turn
from bosun.log.store import ConversationLog, Usage
from bosun.model.errors import SENTENCES
from bosun.steps import Step, StepSink
from bosun.turn.lifecycle import Answered, Failed, Outcome

STOPPED: Final = "I stopped. I will stay out of this until you write again."
"""What people read when a stop ended a turn."""


class WebDelivery:
    """Commits outcomes, and says so after the commit."""

    def __init__(self, log: ConversationLog, steps: StepSink) -> None:
        self._log = log
        self._steps = steps

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

    async def stop(self, conversation_id: str, messages: Sequence[InboundMessage], usage: Usage) -> None:
        """End the open turn, if there is one, with the notice of a stop, and discard what it has not taken in."""
        turn = await self._log.commit_stop(conversation_id, messages, STOPPED, usage)
        if turn is not None:
            self._emit("turn.completed", turn, status="no_reply")

    async def pause(self, turn: Turn, number: int, usage: Usage) -> None:
        """Say that the turn's n-th slice is over, and the turn is not."""
        if await self._log.pause_turn(turn, number, usage):
            self._emit("turn.paused", turn, slice=number)

    def _emit(self, name: str, turn: Turn, **fields: str | int) -> None:
        self._steps.emit(Step(name, turn.conversation_id, dict(fields)))
