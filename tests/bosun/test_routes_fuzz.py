"""Every route, asked anything: nothing is a fault, and what is refused leaves no trace."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

from conftest import HandClock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from slack_bodies import REAL, encoded, mutated
from slack_ingress import signed
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, begin, open_web

from bosun.http.slack import PATH as SLACK
from bosun.stores.postgres import create_engine
from bosun.stores.redis import PROBE, connect
from bosun.stores.tables import conversation_events, conversations, identities, slack_users
from embedded_services import Valkey

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("idempotencyKey", "message", "messageId")
NEARLY_RIGHT = st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=30) | ANYTHING, max_size=3)
RIGHT = st.sampled_from(
    [(("idempotencyKey", "k"), ("message", "m")), (("idempotencyKey", "k"), ("messageId", "m")), ()]
)
BODIES = st.one_of(
    st.binary(max_size=40),
    (st.sampled_from(REAL) | mutated()).map(encoded),
    (ANYTHING | NEARLY_RIGHT | RIGHT.map(dict)).map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")),
)
QUERIES = st.dictionaries(
    st.sampled_from(["before", "limit", "other"]), st.integers().map(str) | st.text(max_size=8), max_size=2
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])


async def contents(engine: AsyncEngine, redis: Redis) -> object:
    """Return what both stores hold."""
    async with engine.connect() as connection:
        counts = [
            (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for table in (conversations, conversation_events, identities, slack_users)
        ]
    keys = sorted(key for key in await redis.keys() if key != PROBE)
    values: list[object] = []
    for key in keys:
        kind = await redis.type(key)
        if kind == "list":
            values.append((key, await redis.lrange(key, 0, -1)))
        elif kind == "hash":
            values.append((key, await redis.hgetall(key)))
        else:
            values.append((key, await redis.smembers(key)))
    return counts, values


class Asked:
    """One set of routes for all the questions, in a loop of its own."""

    def __init__(self, database_url: str, redis_url: str) -> None:
        self.runner = asyncio.Runner()
        self.engine, self.redis = create_engine(database_url), connect(redis_url)
        self.opened = open_web(self.engine, self.redis, HandClock())
        self.web, self.mine, self.hers, self.paths = self.runner.run(self._open())

    async def _open(self) -> tuple[Web, str, str, list[str]]:
        await self.redis.flushall()
        web = await self.opened.__aenter__()
        return web, await begin(web), await begin(web, actor="eve"), sorted(web.app.openapi()["paths"])

    async def ask(self, method: str, path: str, query: dict[str, str], body: bytes, token: str) -> None:
        """Ask, and look what it did."""
        before = await contents(self.engine, self.redis)
        headers = {"authorization": f"Bearer {token}"}
        if path == SLACK and token in self.web.tokens.values():
            headers |= signed(body, HandClock())
        answer = await self.web.client.request(method, path, params=query, content=body, headers=headers)
        if path == SLACK and token not in self.web.tokens.values():
            assert answer.status_code in (401, 405, 413), "a token is no signature"
        assert answer.status_code < 500, (method, path, answer.text)
        if answer.status_code >= 400 and method != "HEAD":
            error = answer.json()["error"]
            assert error["code"] and error["message"]
            assert answer.status_code != 422 or error["fields"]
        if answer.status_code >= 400 or method != "POST":
            assert await contents(self.engine, self.redis) == before

    def close(self) -> None:
        """Close everything."""

        async def close() -> None:
            await self.opened.__aexit__(None, None, None)
            await self.redis.aclose()
            await self.engine.dispose()

        self.runner.run(close())
        self.runner.close()


def test_no_question_is_a_fault_and_no_refusal_leaves_a_trace(database_url: str, valkey: Valkey) -> None:
    """Whoever asks: a writer, a reader, and somebody who invents a token."""
    asked = Asked(database_url, valkey.url)
    assert len(asked.paths) == 9, "every route is asked"
    tokens = [*asked.web.tokens.values(), "invented"]
    ids = st.sampled_from([asked.mine, asked.mine, asked.hers]) | st.text(min_size=1, max_size=12).map(
        lambda text: quote(text, safe="", errors="surrogatepass")
    )

    @settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        method=st.sampled_from(["GET", "POST", "POST"]) | METHODS,
        path=st.sampled_from([*asked.paths, SLACK]),
        conversation_id=ids,
        query=QUERIES,
        body=BODIES,
        token=st.sampled_from(tokens),
    )
    def ask(method: str, path: str, conversation_id: str, query: dict[str, str], body: bytes, token: str) -> None:
        url = path.replace("{conversation_id}", conversation_id)
        asked.runner.run(asked.ask(method, url, query, body, token))

    try:
        ask()
    finally:
        asked.close()
