"""Who may: people's identities and the API tokens that prove them.

A token is shown once and stored as its SHA-256: it is 256 unguessable bits, so that a slow hash would add
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.accounts import ensure_account
from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.stores.postgres import for_reading
from bosun.stores.tables import api_tokens, conversations, identities, participants

SCOPES: Final = ("conversations:read", "conversations:write")
TOKEN_PREFIX: Final = "bosun_"


@dataclass(frozen=True)
class Actor:
    """A person who may ask, and the account that the person belongs to."""

    id: str
    display_name: str
    account_id: str


@dataclass(frozen=True)
class Grant:
    """What a valid token proves: who speaks, and what the token may be used for."""

    actor: Actor
    scopes: frozenset[str]
    sees: bool = False
    """Whether the actor may see the conversation that was asked about."""


class ScopeUnknown(ValueError):
    """A token was asked for with a scope that does not exist."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"there is no scope {scope!r}: use {', '.join(SCOPES)}")


async def create_token(engine: AsyncEngine, *, actor: Actor, scopes: Sequence[str], ids: IdSource, clock: Clock) -> str:
    """Make a token for an actor, and the actor's identity and account where they are missing.

    Return the token.

    A known identity takes over the name and account given. Raises `ScopeUnknown`.
    """
    for scope in scopes:
        if scope not in SCOPES:
            raise ScopeUnknown(scope)
    token = TOKEN_PREFIX + ids.nonce(actor.id, "token")
    now = clock.now()
    async with engine.begin() as connection:
        await ensure_identity(connection, actor, now)
        await connection.execute(
            insert(api_tokens).values(
                token_sha256=_digest(token), identity_id=actor.id, scopes=sorted(set(scopes)), created_at=now
            )
        )
    return token


async def revoke_tokens(engine: AsyncEngine, actor_id: str) -> int:
    """End all tokens of an actor, at once. Return how many there were."""
    async with engine.begin() as connection:
        ended = await connection.execute(delete(api_tokens).where(api_tokens.c.identity_id == actor_id))
    return ended.rowcount


async def ensure_identity(connection: AsyncConnection, actor: Actor, now: datetime) -> None:
    """Make an actor's identity and account where they are missing. A known identity takes over name and account."""
    person = upsert(identities).values(
        id=actor.id, display_name=actor.display_name, account_id=actor.account_id, created_at=now
    )
    person = person.on_conflict_do_update(
        index_elements=[identities.c.id],
        set_={"display_name": person.excluded.display_name, "account_id": person.excluded.account_id},
    )
    await ensure_account(connection, actor.account_id, now)
    await connection.execute(person)


_GRANT: Final = (
    select(
        identities.c.id,
        identities.c.display_name,
        identities.c.account_id,
        api_tokens.c.scopes,
        (conversations.c.id.is_not(None) | participants.c.identity_id.is_not(None)).label("sees"),
    )
    .select_from(
        api_tokens.join(identities, identities.c.id == api_tokens.c.identity_id)
        .outerjoin(
            conversations,
            (conversations.c.actor_id == identities.c.id) & (conversations.c.id == bindparam("conversation")),
        )
        .outerjoin(
            participants,
            (participants.c.identity_id == identities.c.id)
            & (participants.c.conversation_id == bindparam("conversation")),
        )
    )
    .where(api_tokens.c.token_sha256 == bindparam("token"))
)


class Grants:
    """What tokens prove. One query: every request begins with it, so that its cost rules how many can be served."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = for_reading(engine)

    async def of(self, token: str, conversation_id: str | None = None) -> Grant | None:
        """Return what a token proves, or None when nobody was given it."""
        if conversation_id is not None and not (conversation_id.isascii() and conversation_id.isprintable()):
            conversation_id = None  # none that there is, and PostgreSQL cannot be asked about each of them
        async with self._engine.connect() as connection:
            found = await connection.execute(_GRANT, {"token": _digest(token), "conversation": conversation_id})
            row = found.one_or_none()
        if row is None:
            return None
        return Grant(Actor(row.id, row.display_name, row.account_id), frozenset(row.scopes), row.sees)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
