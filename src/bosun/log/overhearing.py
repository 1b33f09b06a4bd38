"""Writing what no turn is about: messages that were not said to Bosun, and changes of messages.

The same rules as the log's other writer has: one transaction each, and twice is once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import Clock
from bosun.log.events import DecidedBy, MessageUpdated, ReplyDecided, TokenUsage
from bosun.log.messages import InboundMessage
from bosun.log.rows import handled, heard, missing, shown
from bosun.log.writing import ConversationUnknown, NewEvent, hold


@dataclass(frozen=True, kw_only=True)
class ReplyDecision:
    """Whether Bosun answers what was not said to it, and whether it is to stay out from now on; who says so, why."""

    reply: bool
    unsubscribe: bool = False
    by: DecidedBy
    reason: str
    usage: TokenUsage = field(default_factory=TokenUsage)


class Overhearing:
    """Writes what was overheard. Raises `ConversationUnknown` for a conversation that was never opened."""

    def __init__(self, engine: AsyncEngine, *, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def decide(self, conversation_id: str, messages: Sequence[InboundMessage], decision: ReplyDecision) -> None:
        """Store what was decided about messages. Where they have no reply, they are visible, heard and done with."""
        decided = ReplyDecided(
            message_ids=[message.id for message in messages],
            reply=decision.reply,
            unsubscribe=decision.unsubscribe,
            by=decision.by,
            reason=decision.reason,
            usage={"reply_policy": decision.usage} if decision.by == "model" else {},
        )
        events = [shown(message) for message in messages]
        events.append(NewEvent(decision_key(messages), decided))
        if not decision.reply:
            events += [heard(message, None) for message in messages]
            events += [handled(message.id, None) for message in messages]
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, self._clock.now())
            await held.append(await missing(held, events))

    async def update(
        self, conversation_id: str, message_id: str, *, revision: int, text: str | None, known: bool
    ) -> bool:
        """Store the new text of a message, or that it was taken back (None). Return whether there was such a message.

        One that is `known` may be on its way into the log; any other has to be there.
        """
        change = MessageUpdated(message_id=message_id, revision=revision, text=text or "", deleted=text is None)
        key = f"{change.type}:{message_id}:{'deleted' if text is None else revision}"
        try:
            async with self._engine.begin() as connection:
                held = await hold(connection, conversation_id, self._clock.now())
                there = await held.existing([key, f"message:{message_id}"])
                if not known and f"message:{message_id}" not in there:
                    return False
                if key not in there:
                    await held.append([NewEvent(key, change)])
        except ConversationUnknown:
            return False
        return True


def decision_key(messages: Sequence[InboundMessage]) -> str:
    """Return the key of the row that says what was decided about a batch: a longer one is decided about anew."""
    return f"{ReplyDecided.type}:{messages[-1].id}"
