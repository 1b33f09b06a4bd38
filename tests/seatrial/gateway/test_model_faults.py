"""What a fault looks like to the official client: a provider's error, a broken connection, or nothing at all."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import openai
import pytest
from conftest import Recorder, Replayer, Site, Talk

from seatrial.gateway.faults import ModelFault


@pytest.mark.parametrize(
    ("kind", "error", "code"),
    [
        ("auth", openai.AuthenticationError, "invalid_api_key"),
        ("permission", openai.PermissionDeniedError, "unsupported_country_region_territory"),
        ("rate_limit", openai.RateLimitError, "rate_limit_exceeded"),
        ("quota", openai.RateLimitError, "insufficient_quota"),
        ("capacity", openai.InternalServerError, None),
        ("server", openai.InternalServerError, None),
        ("timeout", openai.APIStatusError, None),
        ("network", openai.APIConnectionError, None),
        ("invalid_request", openai.BadRequestError, None),
        ("content_policy", openai.BadRequestError, "content_filter"),
        ("invalid_response", json.JSONDecodeError, None),
    ],
)
async def test_a_rejection_is_what_a_provider_answers(
    site: Site, recording_gateway: Recorder, made: Any, kind: Any, error: type[Exception], code: str | None
) -> None:
    site.stream("Hel", "lo")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(10):
        gateway.faults.order(ModelFault(reject=kind))
        with pytest.raises(error) as caught:
            await talk.stream("Hi")
        assert getattr(caught.value, "code", None) == code
        assert site.asked == []
        assert await talk.stream("Hi") == ["Hel", "lo"]
        assert (gateway.problems, gateway.faults.unused()) == ((), ())
        recording = await made(gateway)
    assert [(each.key, each.occurrence) for each in recording.exchanges] == [(recording.exchanges[0].key, 1)]


async def test_a_rate_limit_says_how_long_to_wait(recording_gateway: Recorder) -> None:
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(10):
        gateway.faults.order(ModelFault(reject="rate_limit", retry_after=7))
        with pytest.raises(openai.RateLimitError) as caught:
            await talk.whole("Hi")
        assert caught.value.response.headers["retry-after"] == "7"


async def parts_until_cut(talk: Talk) -> list[str]:
    got: list[str] = []
    with pytest.raises((openai.APIConnectionError, httpx.TransportError)):
        async for part in talk.parts("Hi"):
            got.append(part)
    return got


@pytest.mark.parametrize("after", [0, 1, 2, 99])
async def test_a_cut_stream_has_the_beginning_of_the_recorded_answer_and_leaves_it_there(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any, after: int
) -> None:
    site.stream("one", "two", "three")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(10):
        gateway.faults.order(ModelFault(cut_after=after))
        assert await parts_until_cut(talk) == []  # nothing is recorded yet
        assert await talk.stream("Hi") == ["one", "two", "three"]
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk), asyncio.timeout(10):
        gateway.faults.order(ModelFault(cut_after=after))
        got = await parts_until_cut(talk)
        assert got == ["one", "two", "three"][:after]
        assert await talk.stream("Hi") == ["one", "two", "three"]
        assert (gateway.unused(), gateway.problems, gateway.miss) == ((), (), None)


async def test_what_is_not_answered_waits_until_its_client_leaves(site: Site, recording_gateway: Recorder) -> None:
    site.stream("Hello")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(10):
        gateway.faults.order(ModelFault(time_out=True))
        asking = asyncio.ensure_future(talk.stream("Hi"))
        while not gateway.in_flight:
            await talk.client.models.list()
        await talk.client.models.list()
        assert not asking.done()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await gateway.settle()
        assert await talk.stream("Hi") == ["Hello"]


async def test_a_miss_is_not_hidden_by_a_fault(replaying_gateway: Replayer) -> None:
    async with replaying_gateway(None) as (gateway, talk), asyncio.timeout(10):
        with pytest.raises(openai.BadRequestError, match="no recording"):
            await talk.whole("Hi")
        gateway.faults.order(ModelFault(reject="server"))
        with pytest.raises(openai.BadRequestError, match="no recording"):
            await talk.whole("Hi")
        assert gateway.faults.unused() != ()
