"""More at once than there are connections, and connections that broke while nobody used them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import psycopg
import pytest
from conftest import HandClock
from fastapi import Request
from redis.asyncio import Redis
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import begin, make_tokens, open_web

from bosun.http.authentication import token_authentication
from bosun.http.refusals import Refusal
from bosun.stores.postgres import CONNECTIONS, create_engine

pytestmark = pytest.mark.asyncio
PATIENCE = 0.1
REFUSED = {
    "code": "overloaded",
    "message": "Bosun is asked more than it can answer. Nothing is known to be lost: send the same request again.",
}


async def test_without_a_free_connection_every_route_is_overloaded_and_writes_nothing(
    engine: AsyncEngine, database_url: str, redis: Redis, clock: HandClock
) -> None:
    """And health says so; when there is one again, everything goes on."""
    tokens = await make_tokens(engine, clock)
    full = create_engine(database_url, patience=PATIENCE)
    async with open_web(full, redis, clock, tokens=tokens) as web:
        conversation_id = await begin(web)
        web.queue.nudges.clear()
        path, new = f"/api/conversations/{conversation_id}", {"idempotencyKey": "k2", "message": "m"}
        before = await web.mailbox.state(conversation_id)
        async with AsyncExitStack() as held:
            for _ in range(CONNECTIONS):
                await held.enter_async_context(full.connect())
            for url in ("/api/conversations", f"{path}/messages", f"{path}/stop", f"{path}/forks"):
                refused = await web.post(url, new)
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
                assert refused.json() == {"error": REFUSED}
            for url in ("/api/conversations", path, f"{path}/events", f"{path}/pending"):
                assert (await web.get(url)).json() == {"error": REFUSED}
            health = await web.client.get("/health")
            assert health.status_code == 503
            assert health.json() == {"postgres": "asked more than it can answer (TimeoutError)", "redis": "ok"}
            assert (await web.mailbox.state(conversation_id), web.queue.nudges) == (before, [])
            assert await web.mailbox.with_work() == (conversation_id,)
        assert len((await web.get("/api/conversations")).json()["conversations"]) == 1
        assert (await web.post(f"{path}/messages", new)).json()["status"] == "accepted"
    await full.dispose()


async def test_of_more_requests_at_once_than_connections_the_rest_is_refused_and_sent_again_done_once(
    engine: AsyncEngine, database_url: str, redis: Redis, clock: HandClock
) -> None:
    """The store stands still meanwhile: those that have a connection are done when it goes on."""
    tokens = await make_tokens(engine, clock)
    small = create_engine(database_url, patience=PATIENCE)
    bodies = [{"idempotencyKey": f"k{number}", "message": "m"} for number in range(CONNECTIONS + 5)]
    async with open_web(small, redis, clock, tokens=tokens) as web:
        async with engine.connect() as blocker:
            await blocker.execute(text("LOCK TABLE conversations IN ACCESS EXCLUSIVE MODE"))
            requests = [asyncio.create_task(web.post("/api/conversations", body)) for body in bodies]
            for refused in asyncio.as_completed(requests[CONNECTIONS:]):
                assert (await refused).json() == {"error": REFUSED}
            assert not any(request.done() for request in requests[:CONNECTIONS])
            await blocker.rollback()
        accepted = [(await request).json() for request in requests[:CONNECTIONS]]
        assert {each["status"] for each in accepted} == {"accepted"}
        assert set(await web.mailbox.with_work()) == {each["conversationId"] for each in accepted}
        assert len(web.queue.nudges) == CONNECTIONS
        again = [(await web.post("/api/conversations", body)).json()["status"] for body in bodies]
        assert again == ["duplicate"] * CONNECTIONS + ["accepted"] * 5
        assert len((await web.get("/api/conversations")).json()["conversations"]) == len(bodies)
    await small.dispose()


async def test_requests_beyond_a_bound_are_refused_at_once_and_the_others_served(
    engine: AsyncEngine, clock: HandClock
) -> None:
    """A refusal that had to wait would cost as much as an answer."""
    token = (await make_tokens(engine, clock))["morgan"]
    request = Request({"type": "http", "headers": [(b"authorization", f"Bearer {token}".encode())]})
    authenticate = token_authentication(engine, most_waiting=3)
    async with engine.connect() as blocker:
        await blocker.execute(text("LOCK TABLE api_tokens IN ACCESS EXCLUSIVE MODE"))
        tasks = [asyncio.create_task(authenticate(request, "conversations:read")) for _ in range(5)]
        for refused in asyncio.as_completed(tasks[3:]):
            with pytest.raises(Refusal) as caught:
                await refused
            assert (caught.value.status, caught.value.code, caught.value.headers) == (
                503,
                "overloaded",
                {"Retry-After": "5"},
            )
        assert not any(task.done() for task in tasks[:3])
        await blocker.rollback()
    assert [(await task).id for task in tasks[:3]] == ["morgan"] * 3
    assert (await authenticate(request, "conversations:read")).id == "morgan"


async def test_a_connection_that_broke_while_idle_is_replaced_before_it_is_used(
    engine: AsyncEngine, database_url: str
) -> None:
    """One of several: the others are kept."""
    process = select(func.pg_backend_pid())
    async with AsyncExitStack() as held:
        connections = [await held.enter_async_context(engine.connect()) for _ in range(3)]
        first, *others = [(await each.execute(process)).scalar_one() for each in connections]
    with psycopg.connect(database_url, autocommit=True) as killer:
        assert killer.execute("SELECT pg_terminate_backend(%s, 60000)", [first]).fetchone() == (True,)
    async with AsyncExitStack() as held:
        connections = [await held.enter_async_context(engine.connect()) for _ in range(3)]
        now = [(await each.execute(process)).scalar_one() for each in connections]
    assert len({*now, first}) == 4
    assert set(others) < set(now)
