"""Appending rows: gapless sequence numbers under the conversation's row lock, each idempotency key once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from bosun.log.events import EVENT_SCHEMA, Payload, VisibleMessage
from bosun.stores.tables import conversation_events, conversations, participants


class ConversationUnknown(LookupError):
    """There is no conversation of this id."""


@dataclass(frozen=True)
class NewEvent:
    """A row to append, and the key that makes it happen once in its conversation. Its time is now, unless given."""

    key: str
    payload: Payload
    created_at: datetime | None = None


class Appender:
    """One transaction's hold on one conversation: made by `hold`, dead when the transaction ends."""

    def __init__(
        self,
        connection: AsyncConnection,
        conversation_id: str,
        last_seq: int,
        history_version: int,
        now: datetime,
        starter: str | None,
    ) -> None:
        self._connection = connection
        self._conversation_id = conversation_id
        self._last_seq = last_seq
        self._history_version = history_version
        self._now = now
        self._starter = starter

    async def existing(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that the conversation's log already holds."""
        return await existing_keys(self._connection, self._conversation_id, keys)

    async def append(self, events: Sequence[NewEvent]) -> None:
        """Append the rows in order.

        A key that is already there is a fault of the caller and ends the transaction.
        """
        rows = [
            {
                "conversation_id": self._conversation_id,
                "seq": self._last_seq + offset,
                "history_version": self._history_version,
                "schema_version": EVENT_SCHEMA,
                "idempotency_key": event.key,
                "type": event.payload.type,
                "payload": event.payload.model_dump(mode="json", by_alias=False),
                "created_at": event.created_at or self._now,
            }
            for offset, event in enumerate(events, start=1)
        ]
        if not rows:
            return
        self._last_seq += len(rows)
        await self._connection.execute(insert(conversation_events), rows)
        await self._note_participants({p.author_id for event in events if (p := _by_a_person(event)) is not None})
        await self._connection.execute(
            update(conversations).where(conversations.c.id == self._conversation_id).values(last_seq=self._last_seq)
        )

    async def _note_participants(self, authors: set[str]) -> None:
        """Note who else wrote in a conversation that several people see: on the web, those may see it too.

        One that is on the web alone is its starter's, whoever's words a fork has copied into it.
        """
        others = sorted(authors - {self._starter})
        if self._starter is None or not others:
            return
        rows = [{"conversation_id": self._conversation_id, "identity_id": each} for each in others]
        await self._connection.execute(upsert(participants).values(rows).on_conflict_do_nothing())


def _by_a_person(event: NewEvent) -> VisibleMessage | None:
    payload = event.payload
    return payload if isinstance(payload, VisibleMessage) and payload.role == "user" else None


async def hold(connection: AsyncConnection, conversation_id: str, now: datetime) -> Appender:
    """Lock the conversation's row until the transaction ends. Raises `ConversationUnknown`."""
    query = (
        select(
            conversations.c.last_seq,
            conversations.c.history_version,
            conversations.c.actor_id,
            conversations.c.location,
        )
        .where(conversations.c.id == conversation_id)
        .with_for_update()
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise ConversationUnknown(conversation_id)
    starter = None if row.location == "web" else str(row.actor_id)
    return Appender(connection, conversation_id, row.last_seq, row.history_version, now, starter)


async def existing_keys(connection: AsyncConnection, conversation_id: str, keys: Sequence[str]) -> frozenset[str]:
    """Return those of the idempotency keys that the conversation's log holds."""
    query = select(conversation_events.c.idempotency_key).where(
        conversation_events.c.conversation_id == conversation_id,
        conversation_events.c.idempotency_key.in_(list(keys)),
    )
    return frozenset((await connection.execute(query)).scalars())
