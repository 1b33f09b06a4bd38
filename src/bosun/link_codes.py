"""Codes by which a person who has signed in says who they are on Slack: each is used once, and soon.

The code goes one way, from the page that shows it to a direct message of whoever is linked. A code is stored as its
SHA-256: it has 100 unguessable bits, so that a slow hash would add nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from sqlalchemy import and_, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.clock import Clock
from bosun.identity import Actor
from bosun.ids import IdSource
from bosun.stores.tables import identities, link_codes, slack_users

CODE_AGE: Final = timedelta(minutes=10)
KEPT: Final = timedelta(days=1)
"""How long it is known of a code that it was used."""

_CODE: Final = re.compile(r"[*_~`\s]*link\s+`?([A-Za-z0-9-]{15,40})[*_~`.\s]*", re.IGNORECASE)


class CodeRefused(Exception):
    """A code does not work. The message says why, to whoever sent it."""


@dataclass(frozen=True)
class SlackUser:
    """A person on Slack, by the ids that Slack gives."""

    team_id: str
    user_id: str


def code_in(text: str) -> str | None:
    """Return the code of a text that says `link CODE` and nothing else, or what stands in a code's place."""
    found = _CODE.fullmatch(text)
    return None if found is None else found[1]


class LinkCodes:
    """Makes codes and uses them up. When they end is the app's clock's."""

    def __init__(self, engine: AsyncEngine, *, clock: Clock, ids: IdSource) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    async def make(self, identity_id: str) -> str:
        """Return a new code of a known identity, which has no other one from now on."""
        code, now = _written(self._ids.nonce(identity_id, "link")), self._clock.now()
        earlier = and_(link_codes.c.identity_id == identity_id, link_codes.c.used_for.is_(None))
        over = or_(link_codes.c.created_at <= now - KEPT, earlier)
        row = {"code_sha256": _digest(code), "identity_id": identity_id, "created_at": now}
        async with self._engine.begin() as connection:
            await connection.execute(delete(link_codes).where(over))
            await connection.execute(insert(link_codes).values(row))
        return code

    async def take(self, connection: AsyncConnection, code: str, message_id: str) -> Actor:
        """Use a code up for a message, and return whose it is. The same message may use it again.

        Nothing is used up when the transaction fails. Raises `CodeRefused`.
        """
        query = (
            select(link_codes, identities.c.display_name, identities.c.account_id)
            .join_from(link_codes, identities, identities.c.id == link_codes.c.identity_id)
            .where(link_codes.c.code_sha256 == _digest(code))
            .with_for_update(of=link_codes)
        )
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise CodeRefused("there is no such code, or a newer one has taken its place")
        if row.used_for not in (None, message_id):
            raise CodeRefused("this code was used already")
        if row.used_for is None and row.created_at + CODE_AGE <= self._clock.now():
            raise CodeRefused("this code is too old")
        used = update(link_codes).where(link_codes.c.code_sha256 == row.code_sha256).values(used_for=message_id)
        await connection.execute(used)
        return Actor(row.identity_id, row.display_name, row.account_id)

    async def spoil(self, code: str, message_id: str) -> Literal["spoiled", "again", "no_code"]:
        """Make a code useless that others could read, too. Say whether it was one, and which time this message came."""
        mine = link_codes.c.code_sha256 == _digest(code)
        spoil = update(link_codes).where(mine, link_codes.c.used_for.is_(None)).values(used_for=message_id)
        async with self._engine.begin() as connection:
            if (await connection.execute(spoil)).rowcount:
                return "spoiled"
            used_for = (await connection.execute(select(link_codes.c.used_for).where(mine))).scalar_one_or_none()
        return "again" if used_for == message_id else "no_code"

    async def linked(self, identity_id: str) -> tuple[SlackUser, ...]:
        """Return who an identity is on Slack."""
        query = (
            select(slack_users.c.team_id, slack_users.c.user_id)
            .where(slack_users.c.identity_id == identity_id)
            .order_by(slack_users.c.team_id, slack_users.c.user_id)
        )
        async with self._engine.connect() as connection:
            return tuple(SlackUser(row.team_id, row.user_id) for row in await connection.execute(query))


def _written(nonce: str) -> str:
    """Write a secret as people copy it: five groups of four, without 0, 1, 8 and 9."""
    letters = base64.b32encode(hashlib.sha256(nonce.encode()).digest()).decode()[:20]
    return "-".join(letters[at : at + 4] for at in range(0, 20, 4))


def _digest(code: str) -> str:
    return hashlib.sha256(code.replace("-", "").upper().encode()).hexdigest()
