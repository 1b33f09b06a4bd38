"""How long the dashboard's pages take: a person with ten thousand conversations, and one of two thousand events.

PYTHONPATH=src:tests/bosun python build-support/bench/dashboard.py

Run it as a user that PostgreSQL may be run by. Prints medians and 99th percentiles of wall time within one run, and
each page's ratio to what the JSON API takes for the same.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import httpx
from conftest import CountedIds, HandClock
from sqlalchemy import insert
from web_bench import open_web

from bosun.http.sessions import cookie_name
from bosun.identity import Actor, create_token
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.login.options import LoginOptions
from bosun.login.sessions import Sessions
from bosun.stores.migrations import migrate
from bosun.stores.postgres import create_engine
from bosun.stores.redis import connect
from bosun.stores.tables import conversations
from embedded_services import Postgres, Valkey, initialize_cluster

CONVERSATIONS, TURNS, ASKED = 10_000, 400, 200
"""Seven events a turn: 2,800 in the long conversation."""
LONG = "web:long"


async def main(postgres_url: str, redis_url: str) -> None:
    """Fill the stores, ask each page so often, and print."""
    engine, redis, clock, ids = create_engine(postgres_url), connect(redis_url), HandClock(), CountedIds()
    login = LoginOptions(
        issuer="https://a.example", client_id="b", client_secret="c", public_url="http://localhost", account_id="acme"
    )
    async with open_web(engine, redis, clock, tokens={}, login=login) as web:
        owner = Actor("owner", "Owner", "acme")
        scopes = ("conversations:read", "conversations:write")
        token = await create_token(engine, actor=owner, scopes=scopes, ids=ids, clock=clock)
        session = await Sessions(engine, clock=clock, ids=ids).begin("owner")
        rows = [
            {
                "id": f"web:{number}",
                "account_id": "acme",
                "actor_id": "owner",
                "location": "web",
                "title": f"No. {number}",
                "last_seq": 0,
                "history_version": 1,
                "created_at": clock.now() - timedelta(minutes=number),
            }
            for number in range(CONVERSATIONS)
        ]
        async with engine.begin() as connection:
            await connection.execute(insert(conversations), rows)
        await web.log.open_conversation(ConversationRecord(id=LONG, account_id="acme", actor_id="owner"))
        for number in range(TURNS):
            said = InboundMessage(
                id=f"m{number}", actor_id="owner", author="Owner", text="Which plan am I on?", received_at=clock.now()
            )
            await web.log.accept_message(LONG, said)
            await web.log.commit_reply(await web.log.start_turn(LONG, [said]), "You are on the active plan.")
        events = await web.client.get(f"/api/conversations/{LONG}/events", headers={"authorization": f"Bearer {token}"})
        print(f"{CONVERSATIONS} conversations; {events.json()['events'][-1]['seq']} events in the long one")
        cookie, bearer = {"cookie": f"{cookie_name(login)}={session}"}, {"authorization": f"Bearer {token}"}
        for page, api in (
            ("/", "/api/conversations?limit=50"),
            (f"/conversations/{LONG}", f"/api/conversations/{LONG}"),
        ):
            shown = await timed(lambda page=page: web.client.get(page, headers=cookie))
            told = await timed(lambda api=api: web.client.get(api, headers=bearer))
            print(
                f"{page:26} p50 {shown[0]:6.1f} ms  p99 {shown[1]:6.1f} ms   {shown[0] / told[0]:4.1f} x the API's p50"
            )
        last = f"/?before={rows[-60]['created_at'].isoformat().replace('+', '%2B')}~{rows[-60]['id']}"
        deep = await timed(lambda: web.client.get(last, headers=cookie))
        print(f"{'the last page of the list':26} p50 {deep[0]:6.1f} ms  p99 {deep[1]:6.1f} ms")
    await engine.dispose()
    await redis.aclose()


async def timed(ask: Callable[[], Awaitable[httpx.Response]]) -> tuple[float, float]:
    """Return the median and the 99th percentile, in milliseconds."""
    times = []
    for _ in range(ASKED):
        began = time.perf_counter()
        assert (await ask()).status_code == 200
        times.append((time.perf_counter() - began) * 1000)
    times = sorted(times[ASKED // 10 :])
    return statistics.median(times), times[int(len(times) * 0.99)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Path(folder)
        initialize_cluster(place / "data")
        with (
            Postgres.start(place / "data", place / "run" / "postgres", durable=False) as postgres,
            Valkey.start(place / "valkey", place / "run" / "v.sock", durable=False) as valkey,
        ):
            migrate(postgres.url())
            asyncio.run(main(postgres.url(), valkey.url))
