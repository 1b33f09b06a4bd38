"""The engine: one turn for one batch, in slices.

It starts the turn or takes up the open one, lets it think within the slice's budget and the turn's deadline, and hands
the outcome to the delivery. A slice that is over before the turn is leaves the rest to the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from bosun.clock import Clock
from bosun.limits import Limits
from bosun.log.events import TokenUsage
from bosun.log.messages import InboundMessage
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog, MessagesHandled, TurnTakenOver
from bosun.mailbox.steering import Ended, LeaseLost, Paused, Steering, TurnRun
from bosun.model.errors import ModelFailure
from bosun.stores.faults import STORE_AWAY
from bosun.timer import DeadlinePassed, Overtaken, Timer, ahead_of, within
from bosun.turn.delivery import Delivery
from bosun.turn.lifecycle import Answered, Failed, Outcome, Silent, TurnStopped
from bosun.turn.thinking import Slice, Thinking
from bosun.turn.tool_calls import ToolCalls


class TurnEngine:
    """Runs turns.

    Raises only when a store is away or another worker has the turn: everything else is an outcome that people see.
    """

    def __init__(
        self,
        *,
        log: ConversationLog,
        reader: ConversationReader,
        thinking: Thinking,
        tools: ToolCalls,
        delivery: Delivery,
        clock: Clock,
        timer: Timer,
        limits: Limits,
    ) -> None:
        self._log = log
        self._reader = reader
        self._thinking = thinking
        self._tools = tools
        self._delivery = delivery
        self._clock = clock
        self._timer = timer
        self._limits = limits
        self._logger = logging.getLogger("bosun.turn")

    async def run(self, conversation_id: str, batch: Sequence[InboundMessage], steering: Steering) -> TurnRun:
        """Answer the batch, or pause.

        The deadlines bound the thinking; an answer that is there is delivered and committed, however late it is.
        """
        try:
            work = Slice(await self._log.start_turn(conversation_id, batch), batch)
        except MessagesHandled:
            return Ended(tuple(message.id for message in batch))
        if await self._delivery.resume(work.turn) is not None:
            return Ended(work.turn.message_ids)
        await self._delivery.begin(work.turn)
        pauses = await self._reader.pauses(work.turn)
        number = len(pauses) + 1
        spent = (self._clock.now() - work.turn.started_at).total_seconds()
        left = self._limits.turn_timeout_seconds - spent
        outcome: Outcome
        try:
            if left <= 0 or number > self._limits.slices_per_turn:
                raise DeadlinePassed
            thinking = self._unless_stopped(work, steering)
            outcome = await within(self._timer, min(left, self._limits.slice_budget_seconds), thinking)
        except DeadlinePassed:
            if left > self._limits.slice_budget_seconds and number < self._limits.slices_per_turn:
                return await self._pause(work, number)
            outcome = Failed("timeout")
        except TurnStopped:
            waiting = await steering.discarded()
            await self.stop(conversation_id, waiting, work.usage)
            return Ended((*work.turn.message_ids, *(message.id for message in waiting)))
        except ModelFailure as failure:
            self._logger.warning("turn %s fails: %s", work.turn.id, failure)
            outcome = Failed(failure.kind)
        except (LeaseLost, TurnTakenOver, *STORE_AWAY):
            raise
        except Exception:
            self._logger.exception("turn %s fails", work.turn.id)
            outcome = Failed("unknown")
        if isinstance(outcome, Failed):
            await self._tools.abandon(work.turn)
        await self._delivery.end(work.turn, outcome, total((*(each.usage for each in pauses), work.usage)))
        return Ended(work.turn.message_ids)

    async def give_up(self, conversation_id: str, batch: Sequence[InboundMessage]) -> tuple[str, ...]:
        """Fail the turn of a batch that crashed too often. Return what it had taken in."""
        try:
            turn = await self._log.start_turn(conversation_id, batch)
        except MessagesHandled:
            return tuple(message.id for message in batch)
        if await self._delivery.resume(turn) is not None:
            return turn.message_ids
        await self._tools.abandon(turn)
        pauses = await self._reader.pauses(turn)
        await self._delivery.end(turn, Failed("unknown"), total(each.usage for each in pauses))
        return turn.message_ids

    async def stop(
        self,
        conversation_id: str,
        messages: Sequence[InboundMessage],
        usage: Mapping[str, TokenUsage] | None = None,
    ) -> None:
        """End the open turn, if there is one, without a reply, and discard the messages that it has not taken in.

        An answer that is being delivered is one that was accepted before the stop: it stands.
        """
        turn = await self._reader.open_turn(conversation_id)
        resumed = None if turn is None else await self._delivery.resume(turn)
        if turn is not None and resumed is not None:
            messages = [message for message in messages if message.id not in turn.message_ids]
            if messages and resumed.kind == "notice":  # which people have read
                await self._log.discard(conversation_id, messages, None)
            if not messages or resumed.kind == "notice":
                return
            turn = None
        spent = [usage or {}]
        if turn is not None:
            await self._tools.abandon(turn)
            spent += [each.usage for each in await self._reader.pauses(turn)]
        await self._delivery.stop(conversation_id, turn, messages, total(spent))

    async def _unless_stopped(self, work: Slice, steering: Steering) -> Answered | Silent:
        """Think. A stop aborts whatever runs; an answer that was accepted before it stands."""
        try:
            return await ahead_of(steering.until_stopped(), self._thinking.think(work, steering))
        except Overtaken:
            raise TurnStopped(work.turn.id) from None

    async def _pause(self, work: Slice, number: int) -> Paused:
        await self._tools.interrupt(work.turn)
        await self._delivery.pause(work.turn, number, work.usage)
        return Paused()


def total(usages: Iterable[Mapping[str, TokenUsage]]) -> dict[str, TokenUsage]:
    """Add up what slices took, by role."""
    whole: dict[str, TokenUsage] = {}
    for usage in usages:
        for role, tokens in usage.items():
            whole[role] = whole.get(role, TokenUsage()) + tokens
    return whole
