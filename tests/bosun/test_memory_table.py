"""Who finds whose memories: every cell against a table that was written by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from conftest import CountedIds, HandClock
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.plugins.memory.store import TEAM, MemoryStore
from bosun.tools import ToolContext

pytestmark = pytest.mark.asyncio

PEOPLE = {"owner": "acme", "colleague": "acme", "stranger": "other"}
KEPT = {
    "the owner's": ("acme", "owner"),
    "the colleague's": ("acme", "colleague"),
    "the team's": ("acme", TEAM),
    "the stranger's": ("other", "stranger"),
    "the other team's": ("other", TEAM),
    "of another account's owner": ("other", "owner"),
}

# y: is found, n: is not.
TABLE = {
    "the owner's":                {"owner": "y", "colleague": "n", "stranger": "n"},
    "the colleague's":            {"owner": "n", "colleague": "y", "stranger": "n"},
    "the team's":                 {"owner": "y", "colleague": "y", "stranger": "n"},
    "the stranger's":             {"owner": "n", "colleague": "n", "stranger": "y"},
    "the other team's":           {"owner": "n", "colleague": "n", "stranger": "y"},
    "of another account's owner": {"owner": "n", "colleague": "n", "stranger": "n"},
}  # fmt: skip


async def test_the_table_is_complete() -> None:
    assert set(TABLE) == set(KEPT)
    assert all(set(row) == set(PEOPLE) for row in TABLE.values())


@pytest.mark.parametrize("who", PEOPLE)
async def test_memories_are_found_as_the_table_says(engine: AsyncEngine, who: str) -> None:
    store = MemoryStore(engine, clock=HandClock(datetime(2030, 1, 15, tzinfo=UTC)), ids=CountedIds())
    for name, (account_id, subject) in KEPT.items():
        await store.remember(account_id=account_id, subject=subject, author_id="somebody", text=f"launch: {name}")
    context = ToolContext(
        conversation_id="web:c", account_id=PEOPLE[who], actor_id=who, turn_id="turn:1", call_id="call:1"
    )
    found = {each.text for each in await store.search(context.account_id, context.actor_id, "launch", 50)}
    seen = {name: "y" if f"launch: {name}" in found else "n" for name in KEPT}
    assert seen == {name: row[who] for name, row in TABLE.items()}
