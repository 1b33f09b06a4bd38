"""Forks: a new conversation with the history of another one, up to one reply of Bosun's.

The rows are copies under ids of their own, which derive from the fork and the old ids. What only a running turn or the
conversation itself has is not copied: context, reviews, pauses, the title. The times stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.log.events import (
    AssistantMessage,
    Event,
    MessageHandled,
    Payload,
    ToolExecutionStarted,
    ToolResult,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UserMessage,
    VisibleMessage,
)
from bosun.log.reading import events_until
from bosun.log.writing import NewEvent, hold
from bosun.stores.tables import conversation_events as rows
from bosun.stores.tables import conversations

COPIED: Final[tuple[type[Payload], ...]] = (
    *(VisibleMessage, MessageHandled, UserMessage, AssistantMessage, ToolExecutionStarted, ToolResult),
    *(TurnStarted, TurnCompleted, TurnFailed),
)


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
            copied = self._copies(fork_id, await events_until(connection, source_id, end))
            await (await hold(connection, fork_id, now)).append(copied)
        return Fork(fork_id, new=True)

    def _copies(self, fork_id: str, stored: Sequence[tuple[str, Event]]) -> list[NewEvent]:
        payloads = [event.payload for _, event in stored]
        over = {payload.message_id for payload in payloads if isinstance(payload, MessageHandled)}
        over |= {payload.turn_id for payload in payloads if isinstance(payload, TurnCompleted | TurnFailed)}
        kept = [
            (key, event, event.payload)
            for key, event in stored
            if isinstance(event.payload, COPIED) and _is_over(event.payload, over)
        ]
        names = self._names(fork_id, [payload for _, _, payload in kept])
        return [
            NewEvent(_renamed_key(key, names), _renamed(payload, names), event.created_at)
            for key, event, payload in kept
        ]

    def _names(self, fork_id: str, payloads: Sequence[Payload]) -> dict[str, str]:
        names: dict[str, str] = {}
        for payload in payloads:
            if isinstance(payload, VisibleMessage | UserMessage):
                names[payload.message_id] = self._ids.derive(fork_id, "message", payload.message_id)
            elif isinstance(payload, TurnStarted):
                names[payload.turn_id] = self._ids.derive(fork_id, "turn", payload.turn_id)
            elif isinstance(payload, AssistantMessage):
                for call in payload.tool_calls:
                    names[call.id] = self._ids.derive(fork_id, "tool_call", call.id)
        return names


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


def _is_over(payload: Payload, over: set[str]) -> bool:
    """Tell whether a row is of what was finished by then: a message that waited is not, nor is an open turn."""
    if isinstance(payload, VisibleMessage) and payload.role == "user":
        return payload.message_id in over
    turn_id = getattr(payload, "turn_id", None)
    return turn_id is None or turn_id in over


def _renamed(payload: Payload, names: Mapping[str, str]) -> Payload:
    """Return a copy in which every name of a message, a turn or a call is the fork's."""
    changes: dict[str, object] = {}
    rename: Callable[[str], str] = names.__getitem__
    for name in ("message_id", "turn_id", "call_id"):
        old = getattr(payload, name, None)
        if old is not None:
            changes[name] = rename(old)
    if isinstance(payload, TurnStarted):
        changes["message_ids"] = [rename(each) for each in payload.message_ids]
    if isinstance(payload, AssistantMessage):
        changes["tool_calls"] = [call.model_copy(update={"id": rename(call.id)}) for call in payload.tool_calls]
    return payload.model_copy(update=changes)


def _renamed_key(key: str, names: Mapping[str, str]) -> str:
    """Return a row's key in the fork. A key is a type and an id, and perhaps a number."""
    type_, _, rest = key.partition(":")
    if rest in names:
        return f"{type_}:{names[rest]}"
    old, _, number = rest.rpartition(":")
    return f"{type_}:{names[old]}:{number}"
