"""Loading a recorded conversation: its rows, as they are, in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.log.copies import new_names, renamed
from bosun.log.events import TurnStarted
from bosun.log.messages import ConversationRecord
from bosun.log.reading import latest_turn
from bosun.log.recorded import RecordedConversation, RecordedInvalid
from bosun.log.writing import NewEvent, hold
from bosun.stores.tables import conversations


class RecordedLoader:
    """Puts recorded conversations into the log. It runs nothing: every turn of theirs is over."""

    def __init__(self, engine: AsyncEngine, *, clock: Clock, ids: IdSource) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    async def begin(self, record: ConversationRecord, recorded: RecordedConversation) -> bool:
        """Make a conversation that has gone as the recorded one. Return False when it was there before.

        Raises `RecordedInvalid` for one that ends after now.
        """
        now = self._clock.now()
        self._refuse_what_is_to_come(recorded)
        statement = (
            insert(conversations)
            .values(**record.model_dump(), title=None, last_seq=0, history_version=1, created_at=now)
            .on_conflict_do_nothing()
            .returning(conversations.c.id)
        )
        async with self._engine.begin() as connection:
            if (await connection.execute(statement)).scalar_one_or_none() is None:
                return False
            await (await hold(connection, record.id, now)).append(recorded.rows)
        return True

    async def append(self, conversation_id: str, recorded: RecordedConversation, key: str) -> None:
        """Let the recorded conversation follow what a conversation already holds.

        Its turns are counted on, and its names derive from the conversation and `key`, so that one document can be
        there several times. Raises `RecordedInvalid` for one that ends after now, and where a turn is still open.
        """
        self._refuse_what_is_to_come(recorded)
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, self._clock.now())
            rows = await self._following(connection, conversation_id, recorded, key)
            await held.append(rows)

    async def _following(
        self, connection: AsyncConnection, conversation_id: str, recorded: RecordedConversation, key: str
    ) -> Sequence[NewEvent]:
        latest, is_open = await latest_turn(connection, conversation_id)
        if is_open:
            raise RecordedInvalid(("the conversation has a turn that is not over: nothing can follow it yet",))
        names = new_names(
            [row.payload for row in recorded.rows],
            lambda kind, old: self._ids.derive(conversation_id, kind, f"{key} {old}"),
        )
        before = 0 if latest is None else latest.ordinal
        return [_counted_on(renamed(row, names), before) for row in recorded.rows]

    def _refuse_what_is_to_come(self, recorded: RecordedConversation) -> None:
        now = self._clock.now()
        last = max(row.created_at or now for row in recorded.rows)
        if last > now:
            raise RecordedInvalid((f"it ends at {last.isoformat()}, which is after now, {now.isoformat()}",))


def _counted_on(row: NewEvent, before: int) -> NewEvent:
    if not isinstance(row.payload, TurnStarted):
        return row
    return replace(row, payload=row.payload.model_copy(update={"ordinal": row.payload.ordinal + before}))
