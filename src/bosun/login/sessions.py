"""Sessions of browsers: made at a login, ended by a logout, by a long silence, or by their age.

In PostgreSQL, since a session says who somebody is and must outlive a restart of Redis. Its id is 256 unguessable bits
and stored as SHA-256, as API tokens are.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import Clock
from bosun.identity import Actor
from bosun.ids import IdSource
from bosun.stores.tables import conversations, identities, login_sessions, participants

LONGEST_AGE: Final = timedelta(days=7)
LONGEST_SILENCE: Final = timedelta(hours=12)
NOTED_EVERY: Final = timedelta(minutes=5)
"""How exactly it is known when a session was last used: a page must not cost a write each time."""


@dataclass(frozen=True)
class Session:
    """A browser that has signed in: whose it is, and the secret that its forms have to carry."""

    actor: Actor
    csrf: str


class Sessions:
    """Keeps sessions."""

    def __init__(self, engine: AsyncEngine, *, clock: Clock, ids: IdSource) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    async def begin(self, actor_id: str) -> str:
        """Make a session of a known identity and return its id, which only the browser keeps."""
        token, csrf = self._ids.nonce(actor_id, "session"), self._ids.nonce(actor_id, "csrf")
        now = self._clock.now()
        row = {"session_sha256": _digest(token), "identity_id": actor_id, "csrf": csrf}
        async with self._engine.begin() as connection:
            too_old = login_sessions.c.created_at <= now - LONGEST_AGE
            await connection.execute(delete(login_sessions).where(too_old))
            await connection.execute(insert(login_sessions).values(**row, created_at=now, seen_at=now))
        return token

    async def find(self, token: str) -> Session | None:
        """Return the session of this id, or None when there is none, or none any more."""
        now = self._clock.now()
        query = (
            select(
                identities.c.id,
                identities.c.display_name,
                identities.c.account_id,
                login_sessions.c.csrf,
                login_sessions.c.seen_at,
            )
            .join_from(login_sessions, identities, identities.c.id == login_sessions.c.identity_id)
            .where(
                login_sessions.c.session_sha256 == _digest(token),
                login_sessions.c.created_at > now - LONGEST_AGE,
                login_sessions.c.seen_at > now - LONGEST_SILENCE,
            )
        )
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        if now - row.seen_at >= NOTED_EVERY:
            seen = update(login_sessions).where(login_sessions.c.session_sha256 == _digest(token)).values(seen_at=now)
            async with self._engine.begin() as connection:
                await connection.execute(seen)
        return Session(Actor(row.id, row.display_name, row.account_id), row.csrf)

    async def end(self, token: str) -> None:
        """End a session: its id is worth nothing from now on."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(login_sessions).where(login_sessions.c.session_sha256 == _digest(token)))

    async def sees(self, actor_id: str, conversation_id: str) -> bool:
        """Tell whether an actor may see a conversation: began it, or wrote in it where several people do."""
        if not (conversation_id.isascii() and conversation_id.isprintable()):
            return False
        began = select(conversations.c.id).where(
            conversations.c.id == conversation_id, conversations.c.actor_id == actor_id
        )
        wrote = select(participants.c.conversation_id).where(
            participants.c.conversation_id == conversation_id, participants.c.identity_id == actor_id
        )
        async with self._engine.connect() as connection:
            return (await connection.execute(began.union(wrote))).first() is not None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
