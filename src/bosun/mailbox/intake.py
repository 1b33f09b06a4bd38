"""The way in, whoever the sender: open the conversation, append, nudge; and the stop."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from bosun.clock import Clock
from bosun.identity import Actor
from bosun.ids import IdSource
from bosun.log.forks import Fork, Forks
from bosun.log.messages import ConversationRecord, InboundMessage, interrupts
from bosun.log.overhearing import Overhearing
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import ConversationQueue, Nudge
from bosun.mailbox.running import StopBell
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
        self,
        *,
        log: ConversationLog,
        forks: Forks,
        mailbox: Mailbox,
        queue: ConversationQueue,
        clock: Clock,
        ids: IdSource,
        bell: StopBell,
        overhearing: Overhearing,
    ) -> None:
        self._log = log
        self._forks = forks
        self._mailbox = mailbox
        self._queue = queue
        self._clock = clock
        self._ids = ids
        self._bell = bell
        self._overhearing = overhearing

    async def begin(self, actor: Actor, key: str, text: str) -> Receipt:
        """Begin the actor's conversation of this idempotency key with its first message."""
        conversation_id = self._ids.derive(actor.id, "web", key)
        await self._mailbox.require_writable()  # or a conversation could be left without its message
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
            interrupt=interrupts(text),
        )
        new = await self._mailbox.append(conversation_id, message)
        await self._nudge(conversation_id)  # a duplicate too: perhaps the first request died before it did
        return Receipt(conversation_id, message.id, new)

    async def take_in(
        self, conversation: ConversationRecord, message: InboundMessage, *, subscribe: bool = False
    ) -> Receipt:
        """Append a message of another service's to its conversation, which is made where it is missing, and nudge.

        A message that calls Bosun subscribes it to what else is said there.
        """
        await self._mailbox.require_writable()
        await self._log.open_conversation(conversation)
        new = await self._mailbox.append(conversation.id, message, subscribe=subscribe)
        await self._nudge(conversation.id)
        return Receipt(conversation.id, message.id, new)

    async def listens(self, conversation_id: str) -> bool:
        """Tell whether Bosun is subscribed to what is said in a conversation and not to it."""
        return await self._mailbox.is_subscribed(conversation_id)

    async def revise(self, conversation_id: str, message_id: str, revision: int, text: str | None) -> bool:
        """Give a message another text, or take it back (None). Return False when there is no such message.

        One that still waits is changed where it waits. Of any other the log says it too.
        """
        found = await self._mailbox.revise(conversation_id, message_id, revision, text)
        if found in ("waiting", "outdated"):
            return True
        known = found == "shown"
        return await self._overhearing.update(conversation_id, message_id, revision=revision, text=text, known=known)

    async def fork(self, actor: Actor, conversation_id: str, key: str, message_id: str) -> Fork | None:
        """Begin a conversation of the actor's with the history of another, up to a reply. Nothing is asked in it yet.

        Return None when the other has no such reply.
        """
        return await self._forks.fork(conversation_id, key, message_id, actor.id)

    async def stop(self, conversation_id: str, asked_by: InboundMessage | None = None) -> bool:
        """Stop what runs in the conversation, discard what waits, and listen no more.

        Return False when there was nothing to stop, or the message that asks for it has asked before.
        """
        left = await self._mailbox.stop(conversation_id, asked_by)
        if left == 0:
            return False
        self._bell.ring(conversation_id)
        await self._nudge(conversation_id)
        return left > 0

    async def _nudge(self, conversation_id: str) -> None:
        try:
            await self._queue.send(Nudge(conversation_id, "message"))
        except STORE_AWAY:  # what was said is durable, which is what the answer says; the worker mends lost nudges
            logging.getLogger("bosun.mailbox").warning("the nudge for %s was lost", conversation_id)
