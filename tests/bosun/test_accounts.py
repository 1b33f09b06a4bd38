"""Accounts, identities and tokens, as stored."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest
from conftest import START, CountedIds, HandClock
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.accounts import DatabaseSnapshotSource, save_account
from bosun.context.sources import AccountSnapshot, AccountUnknown
from bosun.identity import Actor, Grant, Grants, ScopeUnknown, create_token
from bosun.stores.tables import api_tokens

pytestmark = pytest.mark.asyncio

MORGAN = Actor("morgan", "Morgan", "standard")
NORTHWIND = AccountSnapshot(display_name="Northwind", plan="team", projects=("Beacon", "Atlas"), updated_at=START)


async def test_an_account_is_read_as_it_was_saved(engine: AsyncEngine) -> None:
    """The projects' order included."""
    await save_account(engine, "standard", NORTHWIND)
    assert await DatabaseSnapshotSource(engine).load("standard") == NORTHWIND
    later = replace(NORTHWIND, projects=("Comet",), updated_at=START + timedelta(days=1))
    await save_account(engine, "standard", later)
    assert await DatabaseSnapshotSource(engine).load("standard") == later


async def test_an_account_that_does_not_exist_is_an_error(engine: AsyncEngine) -> None:
    """Never an invented empty one."""
    with pytest.raises(AccountUnknown, match="standard"):
        await DatabaseSnapshotSource(engine).load("standard")


async def test_a_token_proves_its_actor_and_scopes_and_is_stored_hashed(
    engine: AsyncEngine, ids: CountedIds, clock: HandClock
) -> None:
    """Nobody who reads the table can use it."""
    token = await create_token(engine, actor=MORGAN, scopes=["conversations:read"], ids=ids, clock=clock)
    assert token == "bosun_token-1"
    assert await Grants(engine).of(token) == Grant(MORGAN, frozenset({"conversations:read"}))
    assert await Grants(engine).of(token + "x") is None
    assert await Grants(engine).of("\udcff") is None
    async with engine.connect() as connection:
        stored = (await connection.execute(select(api_tokens.c.token_sha256))).scalar_one()
    assert stored == hashlib.sha256(token.encode()).hexdigest()


async def test_a_token_makes_a_missing_account_on_trial_without_projects(
    engine: AsyncEngine, ids: CountedIds, clock: HandClock
) -> None:
    """And leaves a known account alone."""
    await create_token(engine, actor=MORGAN, scopes=[], ids=ids, clock=clock)
    made = await DatabaseSnapshotSource(engine).load("standard")
    assert made == AccountSnapshot(display_name="standard", plan="trial", projects=(), updated_at=START)
    await save_account(engine, "standard", NORTHWIND)
    renamed = replace(MORGAN, display_name="Morgan Lee")
    token = await create_token(engine, actor=renamed, scopes=[], ids=ids, clock=clock)
    assert await DatabaseSnapshotSource(engine).load("standard") == NORTHWIND
    assert await Grants(engine).of(token) == Grant(renamed, frozenset())


async def test_a_scope_that_does_not_exist_is_refused_with_those_that_do(
    engine: AsyncEngine, ids: CountedIds, clock: HandClock
) -> None:
    """Before anything is stored."""
    with pytest.raises(ScopeUnknown, match=r"'admin': use conversations:read, conversations:write"):
        await create_token(engine, actor=MORGAN, scopes=["admin"], ids=ids, clock=clock)
    with pytest.raises(AccountUnknown):
        await DatabaseSnapshotSource(engine).load("standard")
