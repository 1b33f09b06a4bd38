"""The production queue: at least once, and later when a nudge says so, by the app's clock."""

from __future__ import annotations

import asyncio

import pytest
from conftest import HandClock
from redis.asyncio import Redis

from bosun.mailbox.queue import Nudge
from bosun.mailbox.redis_queue import RedisStreamQueue

pytestmark = pytest.mark.asyncio


@pytest.fixture
def queue(redis: Redis, clock: HandClock) -> RedisStreamQueue:
    """A queue with one consumer."""
    return RedisStreamQueue(redis, clock=clock, consumer="one")


async def test_nudges_arrive_in_order_and_done_ones_are_gone(queue: RedisStreamQueue, redis: Redis) -> None:
    """Nothing of a worked-off nudge stays in the store."""
    await queue.send(Nudge("web:a", "message"))
    await queue.send(Nudge("web:b", "repair"))
    first, second = await queue.receive(), await queue.receive()
    assert [first.nudge, second.nudge] == [Nudge("web:a", "message"), Nudge("web:b", "repair")]
    await queue.done(first)
    await queue.done(second)
    assert await redis.xlen("bosun:queue") == 0
    assert (await redis.xpending("bosun:queue", "workers"))["pending"] == 0


async def test_two_consumers_share_the_nudges(queue: RedisStreamQueue, redis: Redis, clock: HandClock) -> None:
    """Each goes to one of them."""
    other = RedisStreamQueue(redis, clock=clock, consumer="other")
    waiting = [asyncio.create_task(queue.receive()), asyncio.create_task(other.receive())]
    await queue.send(Nudge("web:a", "message"))
    await queue.send(Nudge("web:b", "message"))
    received = await asyncio.gather(*waiting)
    assert {delivery.nudge.conversation_id for delivery in received} == {"web:a", "web:b"}


async def test_a_nudge_for_later_waits_for_the_apps_clock(queue: RedisStreamQueue, clock: HandClock) -> None:
    """Fifteen seconds are not over before the clock says so, however long it takes."""
    await queue.send(Nudge("web:later", "busy"), delay=15)
    await queue.send(Nudge("web:now", "message"))
    assert (await queue.receive()).nudge.conversation_id == "web:now"
    clock.advance(14.9)
    await queue.send(Nudge("web:now", "message"))
    assert (await queue.receive()).nudge.conversation_id == "web:now"
    clock.advance(0.1)
    assert (await queue.receive()).nudge == Nudge("web:later", "busy")


async def test_a_cancelled_receive_loses_no_nudge(queue: RedisStreamQueue) -> None:
    """A worker that stops while it waits has taken nothing."""
    waiting = asyncio.create_task(queue.receive())
    await queue.send(Nudge("web:a", "message"))
    await waiting
    waiting = asyncio.create_task(queue.receive())
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await queue.send(Nudge("web:b", "message"))
    assert (await queue.receive()).nudge.conversation_id == "web:b"
