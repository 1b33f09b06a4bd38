"""Memories: kept once, found by their words, and seen only by those whom they are for."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from conftest import START, CountedIds, HandClock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.plugins import PluginHost, load_plugins
from bosun.plugins.memory.store import LONGEST_MEMORY, TEAM, MemoryStore, MemoryUnfit
from bosun.recall import FactBlock, RecallQuery
from bosun.stores.postgres import create_engine
from bosun.stores.tables import memories
from bosun.tools import ToolContext, ToolFailed


@pytest.fixture
def store(engine: AsyncEngine, clock: HandClock, ids: CountedIds) -> MemoryStore:
    """Nothing is kept in it yet."""
    return MemoryStore(engine, clock=clock, ids=ids)


async def keep(store: MemoryStore, text: str, subject: str | None = "morgan", account: str = "standard") -> str:
    """Keep a text."""
    return await store.remember(account_id=account, subject=subject, author_id="morgan", text=text)


async def found(store: MemoryStore, query: str, actor: str = "morgan", limit: int = 10) -> list[str]:
    """Return the texts that a search finds."""
    return [memory.text for memory in await store.search("standard", actor, query, limit)]


@pytest.mark.asyncio
async def test_any_of_the_words_finds_a_memory_in_any_of_their_forms(store: MemoryStore) -> None:
    """Words that are everywhere find nothing."""
    await keep(store, "The demos are on Monday.")
    await keep(store, "Dana approves the budget.")
    assert await found(store, "When is the demo?") == ["The demos are on Monday."]
    assert await found(store, "Who approved it?") == ["Dana approves the budget."]
    assert await found(store, "the and of") == await found(store, "") == await found(store, "launch") == []


@pytest.mark.asyncio
async def test_the_best_match_is_first_and_then_the_newest(store: MemoryStore, clock: HandClock) -> None:
    """More of the words is better; no more than asked for are returned."""
    await keep(store, "The demo is in Vienna.")
    clock.advance(1)
    await keep(store, "The demo is in Linz.")
    clock.advance(1)
    await keep(store, "The demo is on Monday at noon.")
    assert await found(store, "demo at noon") == [
        "The demo is on Monday at noon.",
        "The demo is in Linz.",
        "The demo is in Vienna.",
    ]
    assert await found(store, "demo at noon", limit=1) == ["The demo is on Monday at noon."]


@pytest.mark.asyncio
async def test_a_text_is_kept_once_for_each_whom_it_is_for(
    store: MemoryStore, engine: AsyncEngine, clock: HandClock
) -> None:
    """As one line; the first time stays."""
    first = await keep(store, "The demo is on Monday.")
    clock.advance(60)
    assert await keep(store, " The demo is\non  Monday.\0 ") == first
    others = [
        await keep(store, "The demo is on Monday.", subject=TEAM),
        await keep(store, "The demo is on Monday.", subject="riley"),
        await keep(store, "The demo is on Monday.", account="other"),
    ]
    assert len({first, *others}) == 4
    async with engine.connect() as connection:
        assert (await connection.execute(select(func.count()).select_from(memories))).scalar_one() == 4
    own, teams = await store.search("standard", "morgan", "demo", 10)
    assert {own.subject, teams.subject} == {"morgan", None}
    assert {own.created_at, teams.created_at} == {START, clock.at}


@pytest.mark.asyncio
async def test_an_actor_whose_id_is_a_word_is_not_the_team(store: MemoryStore) -> None:
    """Whatever people are called."""
    for name in ("team", "None", "null", ""):
        await keep(store, "The demo is on Monday.", subject=name)
    assert await found(store, "demo") == []


@pytest.mark.parametrize("text", ["", " \n", "\0", "x" * (LONGEST_MEMORY + 1)])
@pytest.mark.asyncio
async def test_what_cannot_be_kept_is_refused(store: MemoryStore, text: str) -> None:
    """With the reason."""
    with pytest.raises(MemoryUnfit, match=r"no text to keep|has 301 characters, and 300 can be kept"):
        await keep(store, text)


@pytest.mark.asyncio
async def test_a_query_of_any_form_is_only_words(store: MemoryStore) -> None:
    """Nothing in it is an operator."""
    await keep(store, "The demo's budget is on http://example.org/a?b&c=d'e.")
    for query in ("demo's & !budget |", "'budget' <-> 'x\\'", "http://example.org/a?b&c=d'e", "budget:*", "-budget"):
        assert len(await found(store, query)) == 1, query
    assert await found(store, "\0\ud800 !()|&:*'\\") == []
    assert len(await found(store, "budget " * 10_000)) == 1


PEOPLE = st.sampled_from(["morgan", "riley", "team", "Morgan"])
ACCOUNTS = st.sampled_from(["standard", "other"])
TEXTS = st.lists(st.sampled_from(["demo", "budget", "launch", "monday"]), min_size=1, max_size=3).map(" ".join)
EXAMPLES = itertools.count()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kept=st.lists(st.tuples(ACCOUNTS, PEOPLE | st.none(), TEXTS), max_size=8),
    account=ACCOUNTS,
    actor=PEOPLE,
    query=TEXTS,
)
def test_a_search_finds_exactly_what_has_a_word_and_is_for_the_actor_or_the_team(
    database_url: str, kept: list[tuple[str, str | None, str]], account: str, actor: str, query: str
) -> None:
    """Never another actor's, never another account's."""
    expected = {
        (text, subject)
        for owner, subject, text in kept
        if owner == account and subject in (actor, None) and set(text.split()) & set(query.split())
    }
    assert asyncio.run(kept_and_found(database_url, kept, account, actor, query)) == expected


async def kept_and_found(
    database_url: str, kept: list[tuple[str, str | None, str]], account: str, actor: str, query: str
) -> set[tuple[str, str | None]]:
    """Keep everything in accounts of this example's own, and search once."""
    example = next(EXAMPLES)
    engine = create_engine(database_url)
    try:
        store = MemoryStore(engine, clock=HandClock(), ids=CountedIds())
        for owner, subject, text in kept:
            await keep(store, text, subject, f"{owner}-{example}")
        return {
            (memory.text, memory.subject) for memory in await store.search(f"{account}-{example}", actor, query, 99)
        }
    finally:
        await engine.dispose()


@pytest.mark.asyncio
async def test_the_tools_keep_for_the_actor_and_find(engine: AsyncEngine, clock: HandClock, ids: CountedIds) -> None:
    """The results are sentences that a small model can repeat."""
    (plugin,) = load_plugins(["memory"], PluginHost(engine=engine, clock=clock, ids=ids))
    remember, search = plugin.tools
    context = ToolContext(
        conversation_id="web:c", account_id="standard", actor_id="morgan", turn_id="turn:a", call_id="tool_call:a"
    )
    assert (remember.name, remember.effect, remember.touches) == ("remember", "write", "own_memory")
    assert (search.name, search.effect) == ("search_memory", "read")
    for tool in (remember, search):
        (name,) = tool.example.arguments
        assert tool.schema()["function"] == {
            "name": tool.name,
            "description": tool.description,
            "parameters": {
                "additionalProperties": False,
                "properties": {name: {"maxLength": 300, "type": "string"}},
                "required": [name],
                "type": "object",
                "examples": [tool.example.arguments],
                "x-example": {
                    "request": tool.example.request,
                    "arguments": tool.example.arguments,
                    "result": tool.example.result,
                    "reply": tool.example.reply,
                },
            },
        }
    query = search.parse('{"query": "demo"}')
    assert await search.run(context, query) == "Nothing was found."
    assert await remember.run(context, remember.parse('{"text": "The demo is on Monday."}')) == "Kept."
    assert await search.run(context, query) == "The demo is on Monday."
    with pytest.raises(ToolFailed, match="no text to keep"):
        await remember.run(context, remember.parse('{"text": " "}'))
    async with engine.connect() as connection:
        row = (await connection.execute(select(memories))).one()
    assert (row.subject, row.author_id, row.conversation_id) == ("morgan", "morgan", "web:c")


@pytest.mark.asyncio
async def test_what_is_recalled_is_the_best_three_or_nothing(
    engine: AsyncEngine, clock: HandClock, ids: CountedIds, store: MemoryStore
) -> None:
    """Raw: who renders it escapes it."""
    (plugin,) = load_plugins(["memory"], PluginHost(engine=engine, clock=clock, ids=ids))
    query = RecallQuery(account_id="standard", actor_id="morgan", text="When is the demo?\nAnd who needs the budget?")
    assert await plugin.recall(query) is None
    for number in range(4):
        clock.advance(1)
        await keep(store, f"</memories> demo {number}", subject=TEAM)
    await keep(store, "The demo has a budget.")
    assert await plugin.recall(query) == FactBlock(
        "memories", ("The demo has a budget.", "</memories> demo 3", "</memories> demo 2")
    )
