"""Processes that end between what is stored, what is posted and what is committed: nothing is said twice or lost."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import slack_delivery_attempt
from crashes import Crash, crash_at_commit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_server import CHANNEL, Fault, Moment, SlackServer, slack_server
from slack_turn_bench import CONVERSATION, THREE_PARTS, SlackBench
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.stores.postgres import create_engine
from bosun.turn.lifecycle import Answered

PARTS = [letter * 3_000 for letter in "abc"]
EXAMPLES = itertools.count(2)
MISHAPS = st.sampled_from(
    [
        None,
        Fault(moment="before"),
        Fault(moment="after"),
        Fault("ratelimited", 429, "1"),
        Fault("internal_error", moment="after"),
        Fault("fatal_error", 500),
    ]
)


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    """A Slack of its own."""
    with slack_server() as server:
        yield server


@pytest.mark.parametrize("part", [1, 2, 3])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.asyncio
async def test_a_process_that_is_killed_while_it_posts_has_said_nothing_twice(
    engine: AsyncEngine, database_url: str, slack: SlackServer, part: int, moment: Moment
) -> None:
    """Killed by Slack's own hand, before the post counts or when it has counted and is not answered."""
    bench = SlackBench(engine, slack)
    try:
        turn = await bench.open()
        slack.fail("chat.postMessage", *([None] * (part - 1)), Fault(kill=True, moment=moment))
        slack.held["chat.postMessage"] = gate = threading.Event()
        process = begin(database_url, slack)
        slack.victim = process.pid
        gate.set()
        assert await asyncio.to_thread(process.wait) == -signal.SIGKILL
        assert slack.texts == PARTS[: part if moment == "after" else part - 1]
        assert await bench.ends() == [("started", None)]
        assert await bench.delivery.resume(turn) is not None
        assert (slack.texts, await bench.ends()) == (PARTS, [("succeeded", None)])
        assert [text for _, text, _ in await bench.seen()] == [THREE_PARTS]
    finally:
        bench.close()


@pytest.mark.parametrize(("commit", "after"), [(1, False), (1, True), (2, False), (2, True)])
@pytest.mark.asyncio
async def test_a_crash_around_either_commit_says_nothing_twice(
    engine: AsyncEngine, slack: SlackServer, commit: int, after: bool
) -> None:
    """Before the first, nothing is posted; after it, these words are said and no others."""
    bench = SlackBench(engine, slack)
    try:
        turn = await bench.open()
        with crash_at_commit(engine, commit, after), pytest.raises(Crash):
            await bench.delivery.end(turn, Answered(THREE_PARTS), {})
        assert slack.texts == (PARTS if commit == 2 else [])
        if await bench.reader.open_turn(bench.id) is not None and await bench.delivery.resume(turn) is None:
            await bench.delivery.end(turn, Answered(THREE_PARTS), {})
        assert (slack.texts, await bench.ends()) == (PARTS, [("succeeded", None)])
    finally:
        bench.close()


@pytest.mark.asyncio
async def test_a_cancelled_attempt_ends_when_its_post_has(engine: AsyncEngine, slack: SlackServer) -> None:
    """Otherwise the next attempt would read the thread before the post is in it."""
    bench = SlackBench(engine, slack)
    try:
        turn = await bench.open()
        slack.held["chat.postMessage"] = gate = threading.Event()
        attempt = asyncio.create_task(bench.delivery.end(turn, Answered("Yes."), {}))
        await asyncio.to_thread(slack.arrived.wait)
        attempt.cancel()
        await asyncio.sleep(0)
        attempt.cancel()
        await asyncio.sleep(0)
        assert not attempt.done()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        assert await bench.delivery.resume(turn) is not None
        assert (slack.texts, await bench.ends()) == (["Yes."], [("succeeded", None)])
    finally:
        bench.close()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    posts=st.lists(MISHAPS, max_size=8),
    looks=st.lists(MISHAPS, max_size=4),
    crashes=st.lists(st.tuples(st.integers(1, 2), st.booleans()), max_size=3),
)
def test_whatever_fails_between_each_part_is_there_once(
    database_url: str, posts: list[Fault | None], looks: list[Fault | None], crashes: list[tuple[int, bool]]
) -> None:
    """Or the turn has failed visibly, and then nothing is there twice either."""
    asyncio.run(mishaps(database_url, posts, looks, crashes))


async def mishaps(
    database_url: str, posts: list[Fault | None], looks: list[Fault | None], crashes: list[tuple[int, bool]]
) -> None:
    """Deliver by as many attempts as it takes."""
    engine = create_engine(database_url)
    with slack_server() as slack:
        slack.fail("chat.postMessage", *posts)
        slack.fail("conversations.replies", *looks)
        bench = SlackBench(engine, slack, conversation_id=f"slack:{CHANNEL}:{next(EXAMPLES)}.000001")
        try:
            turn = await bench.open()
            for number, after in [*crashes, (0, False)]:
                with crash_at_commit(engine, number, after):
                    try:
                        if await bench.reader.open_turn(bench.id) is None:
                            break
                        if await bench.delivery.resume(turn) is None:
                            await bench.delivery.end(turn, Answered(THREE_PARTS), {})
                    except Crash:
                        continue
            ((status, _),) = await bench.ends()
            assert slack.texts == (PARTS if status == "succeeded" else PARTS[: len(slack.texts)])
            assert status in ("succeeded", "failed")
        finally:
            bench.close()
            await engine.dispose()


def begin(database_url: str, slack: SlackServer) -> subprocess.Popen[bytes]:
    """Begin an attempt in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    program = str(Path(slack_delivery_attempt.__file__))
    return subprocess.Popen(
        [sys.executable, program, database_url, slack.url, CONVERSATION, THREE_PARTS], env=environment
    )
