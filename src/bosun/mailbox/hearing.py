"""Which messages of a batch a turn is made for: not of what was taken back, nor of what was said to somebody else.

A message that is not said to Bosun is visible and part of the model's history either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from bosun.log.messages import HistoryMessage, InboundMessage, Turn
from bosun.log.overhearing import Overhearing, ReplyDecision, decision_key
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox

GIVEN_UP: Final = ReplyDecision(reply=False, by="rule", reason="it was tried too often")


class ReplyPolicy(Protocol):
    """Decides whether Bosun answers what was not said to it. `model.reply_policy` does."""

    async def decide(
        self, batch: Sequence[InboundMessage], recent: Sequence[HistoryMessage], *, conversation_id: str
    ) -> ReplyDecision:
        """Return what is decided about the batch, after what was said before it. What cannot be asked is a no."""
        ...


class Hearing:
    """Sifts the batches of the worker. Without a policy, everything is answered."""

    def __init__(
        self,
        *,
        log: ConversationLog,
        overhearing: Overhearing,
        reader: ConversationReader,
        mailbox: Mailbox,
        policy: ReplyPolicy | None = None,
    ) -> None:
        self._log = log
        self._overhearing = overhearing
        self._reader = reader
        self._mailbox = mailbox
        self._policy = policy

    async def sift(
        self, conversation_id: str, batch: Sequence[InboundMessage], *, exhausted: bool
    ) -> Sequence[InboundMessage]:
        """Return what there is to be a turn for. The log says of all the rest that it is done with.

        What belongs to a turn that is open stays with it: the policy is for what would begin one.
        """
        if self._policy is None or all(message.place is None for message in batch):
            return batch
        turn = await self._reader.open_turn(conversation_id)
        left = await self._without_what_is_gone(conversation_id, batch, turn)
        if not left or turn is not None or any(message.addressed for message in left):
            return left
        return left if await self._is_answered(conversation_id, left, exhausted) else ()

    async def _without_what_is_gone(
        self, conversation_id: str, batch: Sequence[InboundMessage], turn: Turn | None
    ) -> list[InboundMessage]:
        """Discard messages that were deleted while they waited; those of an open turn stay its own."""
        revisions = await self._reader.revisions(conversation_id)
        own = () if turn is None else turn.message_ids
        gone = [m for m in batch if m.id not in own and m.id in revisions and revisions[m.id].deleted]
        if gone:
            await self._log.discard(conversation_id, gone, None)
        return [message for message in batch if message not in gone]

    async def _is_answered(self, conversation_id: str, batch: Sequence[InboundMessage], exhausted: bool) -> bool:
        """Decide, once: what a crash left behind is not decided anew, since the answer may have begun."""
        known = await self._reader.reply_decision(conversation_id, decision_key(batch))
        if known is not None and not exhausted:
            await self._heed(conversation_id, known.unsubscribe)
            return known.reply
        decision = GIVEN_UP if exhausted else await self._decide(conversation_id, batch)
        await self._heed(conversation_id, decision.unsubscribe)  # before the row: a crash between the two repeats it
        await self._overhearing.decide(conversation_id, batch, decision)
        return decision.reply

    async def _decide(self, conversation_id: str, batch: Sequence[InboundMessage]) -> ReplyDecision:
        assert self._policy is not None
        recent = await self._reader.history(conversation_id)
        return await self._policy.decide(batch, recent, conversation_id=conversation_id)

    async def _heed(self, conversation_id: str, unsubscribe: bool) -> None:
        if unsubscribe:
            await self._mailbox.unsubscribe(conversation_id)
