"""Disks that are really full: what people read then, and that the same request is done once when there is room."""

from __future__ import annotations

import asyncio
import os
import random
import select
import shutil
import string
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from conftest import HandClock
from redis.asyncio import Redis
from small_disk import SmallDisk, small_disk
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, begin, open_web

from bosun.log.messages import Turn
from bosun.stores.migrations import migrate
from bosun.stores.postgres import create_engine
from bosun.stores.redis import connect
from embedded_services import Postgres, Valkey, initialize_cluster
from embedded_services.account import hand_over, server_account

pytestmark = pytest.mark.asyncio

ENOUGH = 2000
"""More requests than any of the disks has room for."""
SECONDS = 60.0
"""How long a server may take to end."""


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A folder for sockets, on another disk."""
    with tempfile.TemporaryDirectory(prefix="bosun-run-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def until_refused(web: Web) -> tuple[list[str], dict[str, str], httpx.Response]:
    """Begin conversations until one is refused: return those that were begun, that one's body, and its answer."""
    begun: list[str] = []
    for number in range(ENOUGH):
        body = {"idempotencyKey": f"full-{number}", "message": "What fits?"}
        answer = await web.post("/api/conversations", body)
        if answer.status_code != 202:
            return begun, body, answer
        begun.append(answer.json()["conversationId"])
    raise AssertionError(f"{ENOUGH} conversations did not fill the disk")


async def done_once(web: Web, begun: list[str], body: dict[str, str]) -> str:
    """Send the refused request twice: it is done, once, and nothing that was accepted before is lost.

    Return its conversation.
    """
    first, again = [await web.post("/api/conversations", body) for _ in range(2)]
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == {**first.json(), "status": "duplicate"}
    refused = str(first.json()["conversationId"])
    for conversation_id in (*begun, refused):
        assert len((await web.mailbox.state(conversation_id)).pending) == 1
        assert (await web.get(f"/api/conversations/{conversation_id}")).status_code == 200
    assert set(await web.mailbox.with_work()) >= {*begun, refused}
    return refused


async def answered_once(web: Web, conversation_id: str) -> None:
    """Answer as a worker does, with a commit that is made twice: people see one message and one reply."""
    await committed_once(web, await turn_of(web, conversation_id), "This does.")


async def turn_of(web: Web, conversation_id: str) -> Turn:
    """Start a turn for the one message that waits, as a worker does."""
    (waiting,) = (await web.mailbox.state(conversation_id)).pending
    await web.log.accept_message(conversation_id, waiting)
    return await web.log.start_turn(conversation_id, [waiting])


async def committed_once(web: Web, turn: Turn, reply: str) -> None:
    """Commit a reply twice: people see it once."""
    assert [await web.log.commit_reply(turn, reply) for _ in range(2)] == [True, False]
    view = (await web.get(f"/api/conversations/{turn.conversation_id}")).json()
    assert [message["text"] for message in view["messages"][1:]] == [reply]
    assert [each["status"] for each in view["turns"]] == ["succeeded"]


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    """Return what a refused request is told."""
    error = answer.json()["error"]
    assert error["message"].endswith("Nothing is known to be lost: send the same request again.")
    return answer.status_code, error["store"], error["code"]


@contextmanager
def migrated(data_dir: Path, run: Path) -> Iterator[Postgres]:
    """A durable PostgreSQL with Bosun's tables."""
    with Postgres.start(data_dir, run, durable=True) as server:
        migrate(server.url())
        yield server


@asynccontextmanager
async def web_on(server: Postgres, redis: Redis) -> AsyncIterator[Web]:
    """Give the routes on this PostgreSQL."""
    engine = create_engine(server.url())
    try:
        async with open_web(engine, redis, HandClock()) as web:
            yield web
    finally:
        await engine.dispose()


async def test_a_full_database_disk_is_named_and_what_it_refused_is_done_once_when_there_is_room(
    sockets: Path, redis: Redis
) -> None:
    """What only reads goes on meanwhile. Of a reply that could not be committed, nothing is there."""
    long = "".join(random.Random(1).choices(string.ascii_letters, k=20_000))
    with small_disk(96) as disk:
        initialize_cluster(disk.folder / "data")
        with migrated(disk.folder / "data", sockets / "run") as server:
            async with web_on(server, redis) as web:
                turn = await turn_of(web, await begin(web))
                disk.fill()
                begun, body, refused = await until_refused(web)
                assert refusal(refused) == (503, "postgres", "store_full")
                assert refused.json()["error"]["message"].startswith("PostgreSQL is full. ")
                assert set(await web.mailbox.with_work()) == {turn.conversation_id, *begun}
                health = await web.client.get("/health")
                assert (health.status_code, health.json()["redis"]) == (503, "ok")
                assert health.json()["postgres"].startswith("full ")
                with pytest.raises(OperationalError, match="No space left on device"):
                    await web.log.commit_reply(turn, long)
                view = (await web.get(f"/api/conversations/{turn.conversation_id}")).json()
                assert [message["role"] for message in view["messages"]] == ["user"]
                assert [each["status"] for each in view["turns"]] == ["started"]
                disk.free()
                assert (await web.client.get("/health")).json() == {"postgres": "ok", "redis": "ok"}
                await committed_once(web, turn, long)
                await answered_once(web, await done_once(web, [turn.conversation_id, *begun], body))


async def test_a_database_that_ends_because_its_log_has_no_room_says_so_and_goes_on_when_it_is_started_again(
    sockets: Path, redis: Redis
) -> None:
    """PostgreSQL panics when it cannot write ahead, and cannot recover then either: what it had answered is there."""
    with small_disk(24) as disk, tempfile.TemporaryDirectory(prefix="bosun-pg-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        data, run = Path(folder) / "data", sockets / "run"
        initialize_cluster(data)
        shutil.move(data / "pg_wal", disk.folder / "pg_wal")
        (data / "pg_wal").symlink_to(disk.folder / "pg_wal")
        if account := server_account():
            hand_over(disk.folder / "pg_wal", account)
        with migrated(data, run) as server, open(os.pidfd_open(server.pid)) as end_of_server:
            async with web_on(server, redis) as web:
                first = await begin(web)
                disk.fill()
                use_up_write_ahead(server)
                begun, body, refused = await until_refused(web)
                status, store, code = refusal(refused)
                assert (status, store) == (503, "postgres")
                assert code in ("store_full", "store_away")  # whose write it was that ended the server
                assert set(await web.mailbox.with_work()) == {first, *begun}
                assert select.select([end_of_server], [], [], SECONDS)[0]  # its recovery has given up
                assert refusal(await web.post("/api/conversations", body)) == (503, "postgres", "store_away")
                health = await web.client.get("/health")
                assert health.json() == {"postgres": "not reachable (OperationalError)", "redis": "ok"}
                disk.free()
                with Postgres.start(data, run, durable=True):
                    assert (await web.client.get("/health")).json() == {"postgres": "ok", "redis": "ok"}
                    await answered_once(web, await done_once(web, [first, *begun], body))


def use_up_write_ahead(server: Postgres) -> None:
    """Write until the files that the server has made ahead are used but for a few pages."""
    left = """
        SELECT max(('x' || substr(name, 17))::bit(32)::bigint + 1) * pg_size_bytes(current_setting('wal_segment_size'))
            - pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')
        FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'
    """
    with psycopg.connect(server.url(), autocommit=True) as connection:
        while True:
            row = connection.execute(left).fetchone()
            assert row is not None
            if row[0] < 100_000:
                return
            connection.execute("SELECT pg_logical_emit_message(false, 'test', repeat('x', 50000))")


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    """A disk for Valkey's file."""
    with small_disk(4) as small:
        yield small


async def test_a_full_disk_of_redis_is_named_and_the_refused_request_is_done_once_when_there_is_room(
    sockets: Path, disk: SmallDisk, engine: AsyncEngine
) -> None:
    """A server that flushes once a second, as most do, stays and refuses; what only reads goes on."""
    data, socket = disk.folder / "data", sockets / "v.sock"
    async with redis_on(data, socket) as redis, open_web(engine, redis, HandClock()) as web:
        await redis.config_set("appendfsync", "everysec")
        first = await begin(web)
        disk.fill()
        begun, body, refused = await until_refused(web)
        assert refusal(refused) == (503, "redis", "store_full")
        assert refused.json()["error"]["message"].startswith("Redis is full. ")
        assert len((await web.get("/api/conversations")).json()["conversations"]) == len([first, *begun])
        for path in (f"/api/conversations/{first}/messages", f"/api/conversations/{first}/stop"):
            answer = await web.post(path, body if path.endswith("messages") else {})
            assert refusal(answer) == (503, "redis", "store_full")
        assert len((await web.mailbox.state(first)).pending) == 1
        health = await web.client.get("/health")
        assert (health.status_code, health.json()["postgres"]) == (503, "ok")
        assert health.json()["redis"].startswith("full ")
        disk.free()
        async with asyncio.timeout(SECONDS):  # the server itself tries again, once a second at least
            while (await web.client.get("/health")).status_code != 200:
                await asyncio.sleep(0)
        refused_id = await done_once(web, [first, *begun], body)
    async with redis_on(data, socket) as redis, open_web(engine, redis, HandClock(), tokens=web.tokens) as web:
        assert set(await web.mailbox.with_work()) == {first, *begun, refused_id}
        await answered_once(web, refused_id)


async def test_a_redis_that_ends_because_its_file_has_no_room_is_away_and_has_what_it_accepted_when_it_starts_again(
    sockets: Path, disk: SmallDisk, engine: AsyncEngine
) -> None:
    """A server that flushes always ends rather than answer for what it could not write."""
    data, socket = disk.folder / "data", sockets / "v.sock"
    async with redis_on(data, socket) as redis, open_web(engine, redis, HandClock()) as web:
        first = await begin(web)
        disk.fill()
        begun, body, refused = await until_refused(web)
        assert refusal(refused) == (503, "redis", "store_away")
        health = await web.client.get("/health")
        assert (health.status_code, health.json()["postgres"]) == (503, "ok")
        assert health.json()["redis"].startswith("not reachable ")
        assert len((await web.get("/api/conversations")).json()["conversations"]) >= len([first, *begun])
    disk.free()
    async with redis_on(data, socket) as redis, open_web(engine, redis, HandClock(), tokens=web.tokens) as web:
        assert set(await web.mailbox.with_work()) == {first, *begun}
        await answered_once(web, await done_once(web, [first, *begun], body))


@asynccontextmanager
async def redis_on(data_dir: Path, socket: Path) -> AsyncIterator[Redis]:
    """A durable Valkey, and a client."""
    with Valkey.start(data_dir, socket, durable=True) as server:
        client = connect(server.url)
        yield client
        await client.aclose()
