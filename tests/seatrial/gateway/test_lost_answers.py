"""An agent that is killed and started again gets once more what it may have lost, and nothing else twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from seatrial.gateway.exchange import Aborted
from seatrial.gateway.recording import Recording
from seatrial.gateway.server import Gateway

if TYPE_CHECKING:
    from conftest import Recorder, Replayer, Site

pytestmark = pytest.mark.asyncio


async def restart(gateway: Gateway) -> None:
    """Let the gateway close its books, and tell it of a restart, as a trial does."""
    await gateway.settle()
    gateway.agent_restarted()


async def recorded(site: Site, gateways: Recorder, made: Any, *answers: str) -> Recording:
    """Record these answers to the one request that the tests make."""
    for text in answers:
        site.whole(text)
    async with gateways(None) as (gateway, talk):
        for _ in answers:
            await talk.whole("Hi")
        recording: Recording = await made(gateway)
        return recording


async def test_a_lost_answer_is_given_again_and_no_recorded_one_is_used_up(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "one", "two")
    async with replaying_gateway(recording) as (gateway, talk):
        assert await talk.whole("Hi") == "one"
        await restart(gateway)
        assert [await talk.whole("Hi") for _ in range(2)] == ["one", "two"]
        assert [request.occurrence for request in gateway.requests] == [1, 1, 2]
        assert [request.usage is None for request in gateway.requests] == [False, True, False]
        assert (gateway.unused(), gateway.problems) == ((), ())


async def test_divergent_answers_that_were_lost_come_again_in_their_order(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "one", "two", "three")
    async with replaying_gateway(recording) as (gateway, talk):
        assert [await talk.whole("Hi") for _ in range(2)] == ["one", "two"]
        await restart(gateway)
        assert [await talk.whole("Hi") for _ in range(3)] == ["one", "two", "three"]
        assert gateway.unused() == ()


async def test_what_an_idle_agent_was_told_is_not_lost(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "one", "two")
    async with replaying_gateway(recording) as (gateway, talk):
        assert await talk.whole("Hi") == "one"
        await gateway.settle()
        gateway.agent_idle()
        await restart(gateway)
        assert await talk.whole("Hi") == "two"


async def test_what_a_restarted_agent_did_not_ask_for_again_is_not_lost_when_it_is_idle(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "one", "two")
    async with replaying_gateway(recording) as (gateway, talk):
        assert await talk.whole("Hi") == "one"
        await restart(gateway)
        gateway.agent_idle()
        assert await talk.whole("Hi") == "two"


async def test_an_answer_that_was_given_again_may_be_lost_again(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "one", "two")
    async with replaying_gateway(recording) as (gateway, talk):
        for _ in range(3):
            assert await talk.whole("Hi") == "one"
            await restart(gateway)
        assert [await talk.whole("Hi") for _ in range(2)] == ["one", "two"]


async def test_another_request_is_not_answered_with_what_was_lost(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.whole("one")
    site.whole("other")
    async with recording_gateway(None) as (gateway, talk):
        assert await talk.whole("Hi") == "one"
        await restart(gateway)
        assert await talk.whole("Ho") == "other"


async def test_a_run_that_records_asks_nobody_again_and_records_the_answer_once(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.whole("one")
    async with recording_gateway(None) as (gateway, talk):
        assert await talk.whole("Hi") == "one"
        await restart(gateway)
        assert await talk.whole("Hi") == "one"
        assert [(request.source, request.usage is None) for request in gateway.requests] == [
            ("spent", False),
            ("recorded", True),
        ]
        recording = await made(gateway)
    assert (len(site.asked), len(recording.exchanges)) == (1, 1)


async def test_a_lost_stream_is_given_again(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.stream("o", "ne")
    async with recording_gateway(None) as (gateway, talk):
        live = await talk.stream("Hi")
        await restart(gateway)
        assert await talk.stream("Hi") == live == ["o", "ne"]
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk):
        assert await talk.stream("Hi") == live
        await restart(gateway)
        assert await talk.stream("Hi") == live


async def test_a_request_that_the_agent_did_not_live_to_see_answered_is_asked_anew(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.raw(200, {}, [], "hang")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        asking = asyncio.create_task(talk.whole("Hi"))
        await site.arrived.wait()
        with pytest.raises(RuntimeError, match="started again while 1 of its requests"):
            gateway.agent_restarted()
        asking.cancel()
        await restart(gateway)
        site.whole("one")
        assert await talk.whole("Hi") == "one"
        recording = await made(gateway)
    assert [exchange.outcome == Aborted() for exchange in recording.exchanges] == [True, False]
