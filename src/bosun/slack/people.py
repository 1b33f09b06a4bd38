"""Who writes on Slack: each person there is an identity, its own until somebody says whose it is.

A linked person is one actor on Slack and on the web.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final, Protocol

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.accounts import ensure_account
from bosun.clock import Clock
from bosun.identity import Actor
from bosun.stores.tables import conversations, identities, memories, participants, slack_users
from bosun.text import storable

_ID: Final = re.compile(r"[A-Z0-9]{1,40}")


class LinkRefused(ValueError):
    """A person on Slack cannot be linked; the message says why, and what to do."""


class Names(Protocol):
    """Says what people on Slack are called."""

    async def name(self, user_id: str) -> str | None:
        """Return a name, or None when it cannot be known now."""
        ...


def own_identity(team_id: str, user_id: str) -> str:
    """Return the identity that a person on Slack has as long as nobody has linked it."""
    return f"slack:{team_id}:{user_id}"


class SlackPeople:
    """Knows people by their ids on Slack. Whoever writes for the first time becomes known in an account."""

    def __init__(self, engine: AsyncEngine, *, names: Names, account_id: str, clock: Clock) -> None:
        self._engine = engine
        self._names = names
        self._account_id = account_id
        self._clock = clock

    async def actor(self, team_id: str, user_id: str) -> Actor:
        """Return who a person is. A name that Slack did not say before is asked for again."""
        known = await self._known(team_id, [user_id])
        actor = known.get(user_id)
        if actor is not None and (actor.display_name != user_id or actor.id != own_identity(team_id, user_id)):
            return actor
        name = storable(await self._names.name(user_id) or "").strip() or user_id
        if actor is None:
            return await self._become_known(team_id, user_id, name)
        if name != user_id:
            async with self._engine.begin() as connection:
                named = update(identities).where(identities.c.id == actor.id).values(display_name=name)
                await connection.execute(named)
        return Actor(actor.id, name, actor.account_id)

    async def names(self, team_id: str, user_ids: Sequence[str]) -> dict[str, str]:
        """Return what people are called, without those whom nobody can name now."""
        if not user_ids:
            return {}
        known = await self._known(team_id, user_ids)
        names = {user_id: actor.display_name for user_id, actor in known.items() if actor.display_name != user_id}
        others = [user_id for user_id in user_ids if user_id not in names]
        told = await asyncio.gather(*(self._names.name(user_id) for user_id in others))
        return {**names, **{user_id: name for user_id, name in zip(others, told, strict=True) if name}}

    async def _known(self, team_id: str, user_ids: Sequence[str]) -> dict[str, Actor]:
        query = (
            select(slack_users.c.user_id, identities.c.id, identities.c.display_name, identities.c.account_id)
            .join(identities, identities.c.id == slack_users.c.identity_id)
            .where(slack_users.c.team_id == team_id, slack_users.c.user_id.in_(list(user_ids)))
        )
        async with self._engine.connect() as connection:
            found = (await connection.execute(query)).all()
        return {row.user_id: Actor(row.id, row.display_name, row.account_id) for row in found}

    async def _become_known(self, team_id: str, user_id: str, name: str) -> Actor:
        """Make the person's own identity. Of two who do so at once, the first one's name stays."""
        now, identity_id = self._clock.now(), own_identity(team_id, user_id)
        person = {"id": identity_id, "display_name": name, "account_id": self._account_id, "created_at": now}
        on_slack = {"team_id": team_id, "user_id": user_id, "identity_id": identity_id}
        async with self._engine.begin() as connection:
            await ensure_account(connection, self._account_id, now)
            await connection.execute(insert(identities).values(person).on_conflict_do_nothing())
            await connection.execute(insert(slack_users).values(on_slack).on_conflict_do_nothing())
        return (await self._known(team_id, [user_id]))[user_id]


async def link_slack_user(engine: AsyncEngine, team_id: str, user_id: str, identity_id: str) -> None:
    """Say that a person on Slack is one whom Bosun knows already, from now on and for what was before.

    What the person's own identity began, wrote in or is remembered for becomes the other's; the log keeps who wrote
    as it was. Raises `LinkRefused`.
    """
    for what, given in (("TEAM", team_id), ("USER", user_id)):
        if _ID.fullmatch(given) is None:
            raise LinkRefused(
                f"{what} is {given!r}: give the id as Slack writes it, for example T024BE7LD or U061F7AUR"
            )
    async with engine.begin() as connection:
        there = select(identities.c.id).where(identities.c.id == identity_id)
        if (await connection.execute(there)).scalar_one_or_none() is None:
            raise LinkRefused(
                f"there is no person {identity_id!r}: make one with python -m bosun token create --actor {identity_id}"
            )
        await become(connection, team_id, user_id, identity_id)


async def become(connection: AsyncConnection, team_id: str, user_id: str, identity_id: str) -> None:
    """Make a person on Slack a known identity, with what the person's own identity began, wrote in or remembers."""
    row = {"team_id": team_id, "user_id": user_id, "identity_id": identity_id}
    linked = insert(slack_users).values(row)
    linked = linked.on_conflict_do_update(
        index_elements=[slack_users.c.team_id, slack_users.c.user_id], set_={"identity_id": identity_id}
    )
    await connection.execute(linked)
    await _hand_over(connection, own_identity(team_id, user_id), identity_id)


async def _hand_over(connection: AsyncConnection, old: str, new: str) -> None:
    if old == new:
        return
    began = update(conversations).where(conversations.c.actor_id == old).values(actor_id=new)
    wrote_in = select(participants.c.conversation_id).where(participants.c.identity_id == old)
    found = (await connection.execute(wrote_in)).scalars().all()
    await connection.execute(began)
    if found:
        rows = [{"conversation_id": each, "identity_id": new} for each in found]
        await connection.execute(insert(participants).values(rows).on_conflict_do_nothing())
        await connection.execute(delete(participants).where(participants.c.identity_id == old))
    await connection.execute(update(memories).where(memories.c.subject == old).values(subject=new))
