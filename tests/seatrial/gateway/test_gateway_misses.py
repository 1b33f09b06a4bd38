"""Replay is strict: what has no recording is a miss, the first one latches, and it says what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from openai import AsyncOpenAI, BadRequestError

from seatrial.gateway.recording import Recording

if TYPE_CHECKING:
    from conftest import Recorder, Replayer, Site

pytestmark = pytest.mark.asyncio


async def recorded(site: Site, gateways: Recorder, made: Any, *asked: str) -> Recording:
    for number in range(len(asked)):
        site.whole(f"answer {number}")
    async with gateways(None) as (gateway, talk):
        for text in asked:
            await talk.whole(text)
        recording = await made(gateway)
    assert isinstance(recording, Recording)
    return recording


async def test_the_first_miss_latches_whatever_the_agent_makes_of_it(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "Hi", "Bye")
    async with replaying_gateway(recording) as (gateway, talk):
        assert await talk.whole("Hi") == "answer 0"
        with pytest.raises(BadRequestError):
            await talk.whole("Hello")
        first = gateway.miss
        with pytest.raises(BadRequestError, match="no recording"):
            await talk.whole("Bye")
        assert gateway.miss is first is not None
        assert gateway.served == 1
        assert [exchange.occurrence for exchange in gateway.unused()] == [1]
    assert len(site.asked) == 2


async def test_a_client_that_retries_is_told_not_to_and_gets_nothing(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "Hi")
    async with replaying_gateway(recording) as (gateway, talk):
        retrying: AsyncOpenAI = talk.client.with_options(max_retries=3)
        for text in ("Hello", "Hi"):
            with pytest.raises(BadRequestError) as caught:
                await retrying.chat.completions.create(model="alias", messages=[{"role": "user", "content": text}])
            assert caught.value.status_code == 400
            assert caught.value.response.headers["x-should-retry"] == "false"
            assert caught.value.code == "unrecorded"
        assert gateway.served == 0


async def test_a_miss_names_the_nearest_recording_and_the_line(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "Quite another thing", "One\nTwo words\nThree")
    async with replaying_gateway(recording) as (gateway, talk):
        with pytest.raises(BadRequestError):
            await talk.whole("One\nTwo words \nThree")
    miss = gateway.miss
    assert miss is not None and miss.nearest == recording.exchanges[1].key
    assert miss.difference == "messages[0].content line 2: recorded 'Two·words', asked 'Two·words·'"
    assert miss.explain() == (
        "The agent of conversation 1 asked something that has no recording. The nearest is exchange 2 of the "
        f"recording (role agent, conversation 1). First difference: {miss.difference}"
    )


@pytest.mark.parametrize("other", [{"role": "title"}, {"conversation": "c-2"}])
async def test_the_nearest_is_of_the_same_role_and_conversation_even_if_others_are_more_alike(
    other: dict[str, str],
    site: Site,
    recording_gateway: Recorder,
    replaying_gateway: Replayer,
    made: Any,
    talk_to: Any,
) -> None:
    site.whole("another answer")
    site.whole("an answer")
    async with recording_gateway(None) as (gateway, talk):
        base = str(talk.client.base_url).removesuffix("/v1/")
        gateway.register_conversation("c-1")
        await talk_to(base, **other).whole("What is new?")
        await talk.whole("Something long and rather different")
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk):
        with pytest.raises(BadRequestError):
            await talk.whole("What is new!")
    assert gateway.miss is not None and gateway.miss.nearest == recording.exchanges[1].key


async def test_one_request_more_than_recorded_is_a_miss_that_counts(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "Hi")
    async with replaying_gateway(recording) as (gateway, talk):
        await talk.whole("Hi")
        with pytest.raises(BadRequestError):
            await talk.whole("Hi")
    assert gateway.miss is not None
    assert gateway.miss.difference == "the same request: recorded once, asked 2 times"


async def test_a_second_answer_that_was_not_asked_for_again_is_unused(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "Hi", "Hi")
    async with replaying_gateway(recording) as (gateway, talk):
        assert gateway.unused() == recording.exchanges
        await talk.whole("Hi")
        assert gateway.unused() == recording.exchanges[1:]


async def test_another_conversation_or_role_is_another_request(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any, talk_to: Any
) -> None:
    recording = await recorded(site, recording_gateway, made, "Hi")
    for options, difference in (
        ({"conversation": "c-2"}, "conversation: recorded 1, asked 2"),
        ({"role": "title"}, "role: recorded 'agent', asked 'title'"),
    ):
        async with replaying_gateway(recording) as (gateway, talk):
            gateway.register_conversation("c-1")
            base = str(talk.client.base_url).removesuffix("/v1/")
            with pytest.raises(BadRequestError):
                await talk_to(base, **options).whole("Hi")
        assert gateway.miss is not None and gateway.miss.difference == difference


async def test_conversations_count_from_one_in_the_order_of_their_registration_or_first_request(
    replaying_gateway: Replayer,
) -> None:
    async with replaying_gateway(None) as (gateway, talk):
        assert gateway.register_conversation("first") == 1
        with pytest.raises(BadRequestError):
            await talk.whole("Hi")
        assert gateway.miss is not None and gateway.miss.conversation == 2
        assert gateway.register_conversation("third") == 3
        assert gateway.register_conversation("first") == 1


async def test_without_a_recording_the_first_request_is_a_miss(replaying_gateway: Replayer) -> None:
    async with replaying_gateway(None) as (gateway, talk):
        with pytest.raises(BadRequestError):
            await talk.whole("Hi")
    assert gateway.miss is not None and gateway.miss.nearest is None
    assert "Nothing is recorded" in gateway.miss.explain()
