"""The rows that a message makes: the one that people see, the model's, and the one that says it is handled."""

from __future__ import annotations

from collections.abc import Iterable

from bosun.log.events import MessageHandled, UserMessage, VisibleKind, VisibleMessage
from bosun.log.messages import InboundMessage
from bosun.log.writing import Appender, NewEvent

NAME = "Bosun"
"""The author that people see on Bosun's own messages."""


def shown(message: InboundMessage) -> NewEvent:
    """Return a person's message as people see it."""
    visible = VisibleMessage(
        message_id=message.id,
        role="user",
        kind="message",
        author_id=message.actor_id,
        author=message.author,
        source=message.source,
        text=message.text,
        turn_id=None,
    )
    return NewEvent(f"{visible.type}:{message.id}", visible)


def heard(message: InboundMessage, turn_id: str | None) -> NewEvent:
    """Return a person's message as the model reads it; without a turn, none answers it."""
    said = UserMessage(
        message_id=message.id,
        turn_id=turn_id,
        author_id=message.actor_id,
        author=message.author,
        text=message.spoken,
        place=message.place,
    )
    return NewEvent(f"{said.type}:{message.id}", said)


def handled(message_id: str, turn_id: str | None) -> NewEvent:
    """Return that a message is done with: by a turn, or by none where it was discarded."""
    return NewEvent(f"{MessageHandled.type}:{message_id}", MessageHandled(message_id=message_id, turn_id=turn_id))


def by_bosun(message_id: str, kind: VisibleKind, text: str, *, source: str, turn_id: str | None) -> VisibleMessage:
    """Return something that Bosun says to people."""
    return VisibleMessage(
        message_id=message_id,
        role="assistant",
        kind=kind,
        author_id="bosun",
        author=NAME,
        source=source,
        text=text,
        turn_id=turn_id,
    )


async def missing(held: Appender, events: Iterable[NewEvent]) -> list[NewEvent]:
    """Return those of the rows that the conversation does not have."""
    rows = list(events)
    known = await held.existing([row.key for row in rows])
    return [row for row in rows if row.key not in known]
