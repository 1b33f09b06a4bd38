"""The way in, whoever the sender: open the conversation, append, nudge."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from bosun.clock import Clock
from bosun.identity import Actor
from bosun.ids import IdSource
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import ConversationQueue, Nudge
from bosun.stores.faults import STORE_AWAY


@dataclass(frozen=True)
class Receipt:
    """Where a message is now durable. ``new`` is False for one that was there before."""

    conversation_id: str
    message_id: str
    new: bool


class Intake:
    """Takes messages in. What it returns is durable; the nudge comes after, and may be lost."""

    def __init__(
        self, *, log: ConversationLog, mailbox: Mailbox, queue: ConversationQueue, clock: Clock, ids: IdSource
    ) -> None:
        self._log = log
        self._mailbox = mailbox
        self._queue = queue
        self._clock = clock
        self._ids = ids

    async def begin(self, actor: Actor, key: str, text: str) -> Receipt:
        """Begin the actor's conversation of this idempotency key with its first message."""
        conversation_id = self._ids.derive(actor.id, "web", key)
        await self._log.open_conversation(
            ConversationRecord(id=conversation_id, account_id=actor.account_id, actor_id=actor.id)
        )
        return await self.say(actor, conversation_id, key, text)

    async def say(self, actor: Actor, conversation_id: str, key: str, text: str) -> Receipt:
        """Append a message to a conversation that is there, and nudge."""
        message = InboundMessage(
            id=self._ids.derive(conversation_id, "message", key),
            actor_id=actor.id,
            author=actor.display_name,
            text=text,
            received_at=self._clock.now(),
        )
        new = await self._mailbox.append(conversation_id, message)
        try:  # a duplicate nudges too: perhaps the first request died before it did
            await self._queue.send(Nudge(conversation_id, "message"))
        except STORE_AWAY:  # the message is durable, which is what the receipt says; the worker mends lost nudges
            logging.getLogger("bosun.mailbox").warning("the nudge for %s was lost", conversation_id)
        return Receipt(conversation_id, message.id, new)
