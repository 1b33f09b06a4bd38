"""The readers of the event log: one conversation's rows, the model's stream, and what a worker asks before it acts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.log.events import (
    DeliveryStarted,
    Event,
    MessageUpdated,
    ReplyDecided,
    TurnPaused,
    TurnRouted,
    TurnStarted,
    UserMessage,
    VisibleMessage,
    decode,
)
from bosun.log.history import HISTORY_TYPES, Placed, stream_of
from bosun.log.messages import ConversationSummary, HistoryMessage, Turn
from bosun.log.revisions import Revisions, revisions_of
from bosun.log.tool_progress import PROGRESS_TYPES, ToolProgress, tool_progress
from bosun.log.writing import existing_keys
from bosun.stores.postgres import for_reading
from bosun.stores.tables import conversation_events as rows
from bosun.stores.tables import conversations, participants


class ConversationReader:
    """Reads conversations.

    Every query sees what is committed when it is asked; `CorruptEvent` where a row cannot be read.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = for_reading(engine)

    async def conversation(self, conversation_id: str) -> ConversationSummary | None:
        """Return the conversation, or None when there is none."""
        query = _summaries().where(conversations.c.id == conversation_id)
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else ConversationSummary.model_validate(dict(row._mapping))

    async def conversations_of(
        self, actor_id: str, limit: int, *, before: tuple[datetime, str] | None = None
    ) -> tuple[ConversationSummary, ...]:
        """Return the conversations that an actor may see, the newest first: began, or wrote in where others do.

        With `before`, those that come after the one that was made then and has this id.
        """
        wrote_in = select(participants.c.conversation_id).where(participants.c.identity_id == actor_id)
        query = (
            _summaries()
            .where((conversations.c.actor_id == actor_id) | conversations.c.id.in_(wrote_in))
            .order_by(conversations.c.created_at.desc(), conversations.c.id)
            .limit(limit)
        )
        if before is not None:
            at, last = before
            query = query.where(
                (conversations.c.created_at < at) | ((conversations.c.created_at == at) & (conversations.c.id > last))
            )
        async with self._engine.connect() as connection:
            found = (await connection.execute(query)).all()
        return tuple(ConversationSummary.model_validate(dict(row._mapping)) for row in found)

    async def events(
        self, conversation_id: str, *, before: int | None = None, limit: int | None = None
    ) -> tuple[Event, ...]:
        """Return rows in the log's order: the last `limit` of those before a sequence number, or all."""
        query = _events(conversation_id).order_by(rows.c.seq.desc())
        if before is not None:
            query = query.where(rows.c.seq < before)
        if limit is not None:
            query = query.limit(limit)
        async with self._engine.connect() as connection:
            found = (await connection.execute(query)).all()
        return tuple(_event(row) for row in reversed(found))

    async def history(self, conversation_id: str) -> tuple[HistoryMessage, ...]:
        """Return the model's stream, oldest first."""
        return tuple(placed.message for placed in await self.stream(conversation_id))

    async def stream(self, conversation_id: str) -> tuple[Placed, ...]:
        """Return the model's stream, oldest first, each message with the rows that it is made of."""
        query = _events(conversation_id).where(rows.c.type.in_(HISTORY_TYPES)).order_by(rows.c.seq)
        async with self._engine.connect() as connection:
            found = (await connection.execute(query)).all()
        return stream_of((row.seq, _event(row).payload) for row in found)

    async def revisions(self, conversation_id: str) -> Revisions:
        """Return what became of messages that were changed or taken back."""
        async with self._engine.connect() as connection:
            return await revisions_in(connection, conversation_id)

    async def reply_decision(self, conversation_id: str, key: str) -> ReplyDecided | None:
        """Return what was decided, by the row's key, or None."""
        query = _events(conversation_id).where(rows.c.idempotency_key == key)
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        payload = None if row is None else _event(row).payload
        return payload if isinstance(payload, ReplyDecided) else None

    async def tool_progress(self, turn: Turn) -> ToolProgress:
        """Return how far the turn's tool calls have come."""
        async with self._engine.connect() as connection:
            return await progress_of(connection, turn)

    async def open_turn(self, conversation_id: str) -> Turn | None:
        """Return the turn that has not ended, if there is one."""
        async with self._engine.connect() as connection:
            turn, is_open = await latest_turn(connection, conversation_id)
        return turn if is_open else None

    async def pauses(self, turn: Turn) -> tuple[TurnPaused, ...]:
        """Return the turn's slices that ended before it was finished."""
        query = (
            _events(turn.conversation_id)
            .where(rows.c.type == TurnPaused.type, rows.c.payload["turn_id"].astext == turn.id)
            .order_by(rows.c.seq)
        )
        async with self._engine.connect() as connection:
            found = (await connection.execute(query)).all()
        payloads = [_event(row).payload for row in found]
        return tuple(payload for payload in payloads if isinstance(payload, TurnPaused))

    async def delivery(self, turn: Turn) -> DeliveryStarted | None:
        """Return what the turn's last words are, where another attempt has begun to deliver them."""
        query = _events(turn.conversation_id).where(rows.c.idempotency_key == delivery_key(turn))
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        payload = None if row is None else _event(row).payload
        return payload if isinstance(payload, DeliveryStarted) else None

    async def route(self, turn: Turn) -> TurnRouted | None:
        """Return how the turn is thought about, where that is decided."""
        query = _events(turn.conversation_id).where(rows.c.idempotency_key == route_key(turn))
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        payload = None if row is None else _event(row).payload
        return payload if isinstance(payload, TurnRouted) else None

    async def place(self, conversation_id: str, turn_id: str) -> str | None:
        """Return what the latest message that a turn has taken in is called where it was written, if elsewhere."""
        async with self._engine.connect() as connection:
            said = await _taken_in(connection, conversation_id, turn_id)
        return said[-1].place if said else None

    async def handled(self, conversation_id: str, message_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the messages that an ended turn has taken in, or that were discarded."""
        keys = {f"message_handled:{message_id}": message_id for message_id in message_ids}
        async with self._engine.connect() as connection:
            found = await existing_keys(connection, conversation_id, tuple(keys))
        return frozenset(keys[key] for key in found)

    async def first_human_message(self, conversation_id: str) -> VisibleMessage | None:
        """Return the first message of a person in the conversation, or None when nobody has said anything."""
        query = (
            _events(conversation_id)
            .where(rows.c.type == VisibleMessage.type, rows.c.payload["role"].astext == "user")
            .order_by(rows.c.seq)
            .limit(1)
        )
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        payload = None if row is None else _event(row).payload
        return payload if isinstance(payload, VisibleMessage) else None


def delivery_key(turn: Turn) -> str:
    """Return the key of the row that says what a turn's last words are."""
    return f"{DeliveryStarted.type}:{turn.id}"


def route_key(turn: Turn) -> str:
    """Return the key of the row that says how a turn is thought about."""
    return f"{TurnRouted.type}:{turn.id}"


async def latest_turn(connection: AsyncConnection, conversation_id: str) -> tuple[Turn | None, bool]:
    """Return the conversation's latest turn with every message it has taken in so far, and whether it is still open."""
    query = _events(conversation_id).where(rows.c.type == TurnStarted.type).order_by(rows.c.seq.desc()).limit(1)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None, False
    event = _event(row)
    started = event.payload
    assert isinstance(started, TurnStarted)
    said = await _taken_in(connection, conversation_id, started.turn_id)
    turn = Turn(
        id=started.turn_id,
        conversation_id=conversation_id,
        ordinal=started.ordinal,
        actor_id=started.actor_id,
        author=next((each.author for each in said if each.author_id == started.actor_id), started.actor_id),
        source=started.source,
        message_ids=tuple(each.message_id for each in said),
        started_at=event.created_at,
    )
    ended = await existing_keys(connection, conversation_id, [f"turn_ended:{turn.id}"])
    return turn, not ended


async def events_until(connection: AsyncConnection, conversation_id: str, seq: int) -> tuple[tuple[str, Event], ...]:
    """Return the rows up to a sequence number, each with its idempotency key, in the log's order."""
    query = _events(conversation_id).where(rows.c.seq <= seq).order_by(rows.c.seq)
    found = (await connection.execute(query.add_columns(rows.c.idempotency_key))).all()
    return tuple((str(row[-1]), _event(row)) for row in found)


async def revisions_in(connection: AsyncConnection, conversation_id: str) -> Revisions:
    """Return what became of messages that were changed or taken back, as this transaction sees it."""
    query = _events(conversation_id).where(rows.c.type == MessageUpdated.type)
    return revisions_of(_event(row).payload for row in (await connection.execute(query)).all())


async def progress_of(connection: AsyncConnection, turn: Turn) -> ToolProgress:
    """Return how far a turn's tool calls have come, as this transaction sees it."""
    query = (
        _events(turn.conversation_id)
        .where(rows.c.type.in_(PROGRESS_TYPES), rows.c.payload["turn_id"].astext == turn.id)
        .order_by(rows.c.seq)
    )
    found = (await connection.execute(query)).all()
    return tool_progress(_event(row).payload for row in found)


async def _taken_in(connection: AsyncConnection, conversation_id: str, turn_id: str) -> list[UserMessage]:
    query = (
        _events(conversation_id)
        .where(rows.c.type == UserMessage.type, rows.c.payload["turn_id"].astext == turn_id)
        .order_by(rows.c.seq)
    )
    payloads = [_event(each).payload for each in (await connection.execute(query)).all()]
    return [payload for payload in payloads if isinstance(payload, UserMessage)]


def _summaries() -> Select[tuple[str, str, str, str, str, object]]:
    table = conversations.c
    return select(table.id, table.account_id, table.actor_id, table.location, table.title, table.created_at)


def _events(conversation_id: str) -> Select[tuple[str, int, str, int, object, object]]:
    columns = (
        rows.c.conversation_id,
        rows.c.seq,
        rows.c.type,
        rows.c.schema_version,
        rows.c.payload,
        rows.c.created_at,
    )
    return select(*columns).where(rows.c.conversation_id == conversation_id)


def _event(row: Row[Any]) -> Event:
    payload = decode(row.conversation_id, row.seq, row.type, row.schema_version, row.payload)
    return Event(conversation_id=row.conversation_id, seq=row.seq, created_at=row.created_at, payload=payload)
