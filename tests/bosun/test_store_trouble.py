"""Stores that are away, read-only or full, and connections that break in the middle: clear words, nothing by halves."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from conftest import CountedIds, HandClock
from cutting_proxy import behind_proxies
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, begin, make_tokens, open_web

from bosun.log.reading import ConversationReader
from bosun.stores.postgres import create_engine
from bosun.stores.redis import connect
from embedded_services import Postgres, Valkey

pytestmark = pytest.mark.asyncio
NEW = {"idempotencyKey": "new", "message": "m"}


@asynccontextmanager
async def read_only(database_url: str, redis: Redis) -> AsyncIterator[tuple[Web, str, str]]:
    """Give routes on a database that takes no writes any more, with a conversation and a reply in it."""
    engine, clock = create_engine(database_url), HandClock()
    async with open_web(engine, redis, clock) as web:
        conversation_id = await begin(web)
        waiting = (await web.mailbox.state(conversation_id)).pending
        turn = await web.log.start_turn(conversation_id, waiting)
        await web.log.commit_reply(turn, "On Friday.")
        reply = CountedIds().derive(turn.id, "message", 1)
        async with engine.begin() as connection:
            await connection.execute(text("ALTER DATABASE one SET default_transaction_read_only = on"))
        await engine.dispose()
        web.queue.nudges.clear()
        try:
            yield web, conversation_id, reply
        finally:
            await engine.dispose()


async def test_a_read_only_database_is_named_and_nothing_is_left_in_the_other_store(
    database_url: str, redis: Redis
) -> None:
    """What only reads, and what only needs the other store, goes on."""
    async with read_only(database_url, redis) as (web, conversation_id, reply):
        path = f"/api/conversations/{conversation_id}"
        fork = {"idempotencyKey": "f", "messageId": reply}
        before = await web.mailbox.with_work()
        for url, body in (("/api/conversations", NEW), (f"{path}/forks", fork)):
            refused = await web.post(url, body)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.json()["error"] == {
                "code": "store_read_only",
                "message": "PostgreSQL is read-only. Nothing is known to be lost: send the same request again.",
                "store": "postgres",
            }
        assert (await web.mailbox.with_work(), web.queue.nudges) == (before, [])
        assert len((await web.get("/api/conversations")).json()["conversations"]) == 1
        health = await web.client.get("/health")
        assert (health.status_code, health.json()) == (503, {"postgres": "read-only", "redis": "ok"})
        assert (await web.post(f"{path}/messages", NEW)).status_code == 202
        assert (await web.post(f"{path}/stop", {})).status_code == 202


@pytest.fixture
def small(valkey: Valkey) -> Iterator[Valkey]:
    """A Valkey of its own, which a test may fill up."""
    with (
        tempfile.TemporaryDirectory(prefix="bosun-vk-", dir="/tmp") as folder,
        Valkey.start(Path(folder) / "data", Path(folder) / "run" / "v.sock", durable=False) as server,
    ):
        yield server


async def test_a_full_redis_is_named_and_no_conversation_is_left_without_its_message(
    engine: AsyncEngine, small: Valkey
) -> None:
    """What only reads goes on; when there is room again, so does everything."""
    redis = connect(small.url)
    async with open_web(engine, redis, HandClock()) as web:
        conversation_id = await begin(web)
        path = f"/api/conversations/{conversation_id}"
        state = await web.mailbox.state(conversation_id)
        await redis.config_set("maxmemory", "1")
        for url, body in (("/api/conversations", NEW), (f"{path}/messages", NEW), (f"{path}/stop", {})):
            refused = await web.post(url, body)
            assert refused.status_code == 503
            error = refused.json()["error"]
            assert (error["code"], error["store"]) == ("store_full", "redis")
            assert error["message"].startswith("Redis is full. ")
        assert await web.mailbox.state(conversation_id) == state
        assert len((await web.get("/api/conversations")).json()["conversations"]) == 1
        health = await web.client.get("/health")
        assert (health.status_code, health.json()) == (503, {"postgres": "ok", "redis": "full (OutOfMemoryError)"})
        await redis.config_set("maxmemory", "0")
        assert (await web.client.get("/health")).status_code == 200
        assert (await web.post("/api/conversations", NEW)).status_code == 202
    await redis.aclose()


async def test_a_store_that_is_away_is_named_by_every_route_that_needs_it(engine: AsyncEngine, redis: Redis) -> None:
    """Each of the two."""
    clock = HandClock()
    tokens = await make_tokens(engine, clock)
    nowhere, no_database = connect("unix:///nowhere.sock"), create_engine("postgresql://u@/d?host=/nowhere")
    async with open_web(engine, redis, clock, tokens=tokens) as web:
        conversation_id = await begin(web)
    path = f"/api/conversations/{conversation_id}"
    async with open_web(engine, nowhere, clock, tokens=tokens) as web:
        for url, body in (("/api/conversations", NEW), (f"{path}/messages", NEW), (f"{path}/stop", {})):
            error = (await web.post(url, body)).json()["error"]
            assert (error["code"], error["store"]) == ("store_away", "redis")
        assert (await web.get(f"{path}/pending")).json()["error"]["store"] == "redis"
        assert len((await web.get("/api/conversations")).json()["conversations"]) == 1
        assert (await web.client.get("/health")).json()["redis"].startswith("not reachable")
    async with open_web(no_database, redis, clock, tokens=tokens) as web:
        for url in ("/api/conversations", f"{path}/messages", f"{path}/stop", f"{path}/forks"):
            error = (await web.post(url, {})).json()["error"]
            assert (error["code"], error["store"]) == ("store_away", "postgres")
        for url in ("/api/conversations", path, f"{path}/events", f"{path}/pending"):
            assert (await web.get(url)).json()["error"]["store"] == "postgres"
        assert (await web.client.get("/health")).json()["postgres"].startswith("not reachable")
    await nowhere.aclose()
    await no_database.dispose()


@pytest.mark.parametrize("store", ["postgres", "redis"])
async def test_a_request_whose_connection_breaks_is_refused_or_done_and_sent_again_is_done_once(
    cluster: Postgres, valkey: Valkey, engine: AsyncEngine, redis: Redis, store: str
) -> None:
    """Wherever it breaks."""
    clock = HandClock()
    tokens = await make_tokens(engine, clock)
    reader = ConversationReader(engine)
    statuses = set()
    async with (
        behind_proxies(cluster, valkey) as (cut_engine, cut_redis, proxies),
        open_web(cut_engine, cut_redis, clock, tokens=tokens) as web,
    ):
        for number in range(1, 13):
            body = {"idempotencyKey": f"k{number}", "message": "m"}
            proxies[store].cut_after(number)
            first = await web.post("/api/conversations", body)
            proxies[store].heal()
            again = await web.post("/api/conversations", body)
            statuses.add(first.status_code)
            assert first.status_code in (202, 503), first.text
            assert first.status_code == 202 or first.json()["error"]["store"] == store
            assert again.status_code == 202
            conversation_id = again.json()["conversationId"]
            assert len((await web.mailbox.state(conversation_id)).pending) == 1
            assert await reader.conversation(conversation_id) is not None
    assert proxies[store].cuts > 0
    assert statuses == {202, 503}
