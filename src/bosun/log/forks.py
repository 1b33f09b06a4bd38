"""Forks: a new conversation with the history of another one, up to one reply of Bosun's.

The rows are copies under ids of their own, which derive from the fork and the old ids. What only a running turn or the
conversation itself has is not copied: context, reviews, pauses, the title. The times stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.log.copies import history_rows, new_names, renamed
from bosun.log.events import Event, VisibleMessage
from bosun.log.reading import events_until, revisions_in
from bosun.log.revisions import Revisions
from bosun.log.writing import NewEvent, hold
from bosun.stores.tables import conversation_events as rows
from bosun.stores.tables import conversations


@dataclass(frozen=True)
class Fork:
    """Where the copy is. ``new`` is False for one that was there before."""

    conversation_id: str
    new: bool


class Forks:
    """Copies conversations."""

    def __init__(self, engine: AsyncEngine, *, clock: Clock, ids: IdSource) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    async def fork(self, source_id: str, key: str, message_id: str, actor_id: str) -> Fork | None:
        """Copy a conversation up to the turn of a reply, for an actor, in one transaction.

        The same key is the same fork, whatever else is said. Return None, having written nothing, when the
        conversation has no such reply of Bosun's.
        """
        fork_id = self._ids.derive(source_id, "fork", key)
        now = self._clock.now()
        async with self._engine.begin() as connection:
            account = select(conversations.c.account_id).where(conversations.c.id == source_id)
            record = insert(conversations).values(
                id=fork_id,
                account_id=(await connection.execute(account)).scalar_one(),
                actor_id=actor_id,
                location="web",
                title=None,
                last_seq=0,
                history_version=1,
                created_at=now,
            )
            made = await connection.execute(record.on_conflict_do_nothing().returning(conversations.c.id))
            if made.scalar_one_or_none() is None:
                return Fork(fork_id, new=False)
            end = await _end_of(connection, source_id, message_id)
            if end is None:
                await connection.rollback()
                return None
            stored = await events_until(connection, source_id, end)
            copied = self._copies(fork_id, stored, await revisions_in(connection, source_id))
            await (await hold(connection, fork_id, now)).append(copied)
        return Fork(fork_id, new=True)

    def _copies(self, fork_id: str, stored: Sequence[tuple[str, Event]], later: Revisions) -> list[NewEvent]:
        kept = history_rows(stored, later)
        names = new_names([row.payload for row in kept], lambda kind, old: self._ids.derive(fork_id, kind, old))
        return [renamed(row, names) for row in kept]


async def _end_of(connection: AsyncConnection, conversation_id: str, message_id: str) -> int | None:
    """Return the sequence number of the last row of a reply's turn, or of the reply where it has no turn."""
    reply = select(rows.c.seq, rows.c.payload["turn_id"].astext.label("turn_id")).where(
        rows.c.conversation_id == conversation_id,
        rows.c.type == VisibleMessage.type,
        rows.c.payload["role"].astext == "assistant",
        rows.c.payload["message_id"].astext == message_id,
    )
    found = (await connection.execute(reply)).one_or_none()
    if found is None or found.turn_id is None:
        return None if found is None else int(found.seq)
    end = select(rows.c.seq).where(
        rows.c.conversation_id == conversation_id, rows.c.idempotency_key == f"turn_ended:{found.turn_id}"
    )
    return (await connection.execute(end)).scalar_one_or_none()
