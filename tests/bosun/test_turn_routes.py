"""A turn is routed once: the first decision is stored before it counts, and whoever goes on with the turn reads it."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_engine_bench import CONVERSATION, EngineBench

from bosun.log.events import TurnRouted
from bosun.log.projection import conversation_view
from bosun.mailbox.steering import Ended
from bosun.model.profiles import DEFAULT_PROFILES, Profile

pytestmark = pytest.mark.asyncio

THINKS = (
    Profile(name="standard", description="everything else"),
    Profile(name="deep", description="plans", model="large", max_tokens=99, takes_reasoning=True),
)


async def begun(engine: AsyncEngine, redis: Redis, profiles: tuple[Profile, ...]) -> EngineBench:
    bench = EngineBench(engine, redis, profiles=profiles)
    await bench.open()
    await bench.say("1")
    return bench


def routed(turn_id: str, profile: str = "deep") -> TurnRouted:
    return TurnRouted(turn_id=turn_id, profile=profile, reasoning="high", confidence=0.9, reason="a plan", by="model")


async def test_the_route_is_stored_before_the_agent_asks(engine: AsyncEngine, redis: Redis) -> None:
    bench = await begun(engine, redis, THINKS[:1])
    await bench.run(await bench.take())
    assert (await bench.types())[-2:] == ["turn_routed", "turn_context"]
    assert [(each.role, each.model, each.reasoning, each.max_tokens) for each in bench.model.asked] == [
        ("agent", None, None, None)
    ]


async def test_a_stored_route_is_the_turns_and_nobody_is_asked_again(engine: AsyncEngine, redis: Redis) -> None:
    bench = await begun(engine, redis, THINKS)
    taken = await bench.take()
    for message in taken.batch:
        await bench.log.accept_message(CONVERSATION, message)
    turn = await bench.log.start_turn(CONVERSATION, taken.batch)
    assert await bench.log.record_route(turn, routed(turn.id))
    assert not await bench.log.record_route(turn, routed(turn.id, "standard"))
    await bench.run(taken)
    assert [(each.role, each.model, each.reasoning, each.max_tokens) for each in bench.model.asked] == [
        ("agent", "large", "high", 99)
    ]
    assert (await bench.types()).count("turn_routed") == 1
    conversation = await bench.reader.conversation(CONVERSATION)
    assert conversation is not None
    (shown,) = conversation_view(conversation, await bench.reader.events(CONVERSATION))["turns"]
    assert shown["routing"] == {
        "profile": "deep", "reasoning": "high", "confidence": 0.9, "reason": "a plan", "by": "model",
    }  # fmt: skip


async def test_a_stop_aborts_the_router_and_nothing_is_decided(engine: AsyncEngine, redis: Redis) -> None:
    bench = await begun(engine, redis, DEFAULT_PROFILES)
    running = await bench.run(await bench.take())
    assert [each.role for each in bench.model.asked] == ["router"]
    await bench.mailbox.stop(CONVERSATION)
    bench.bell.ring(CONVERSATION)
    assert isinstance(await running, Ended)
    assert bench.model.aborted == 1
    assert "turn_routed" not in await bench.types()
