"""A request that the key cannot be built from is no miss: it breaks the trial, and the reason says what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from openai import BadRequestError

from seatrial.gateway import wire
from seatrial.gateway.server import Gateway, RecordRefused

if TYPE_CHECKING:
    from conftest import Recorder, Replayer, TalkTo

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"role": ""}, "has no header 'x-test-role'"),
        ({"conversation": ""}, "has no header 'x-test-conversation'"),
        ({"role": "agnet"}, "has the unknown role 'agnet'"),
    ],
)
async def test_a_request_without_role_or_conversation_breaks_the_trial(
    options: dict[str, str], problem: str, replaying_gateway: Replayer, talk_to: TalkTo
) -> None:
    async with replaying_gateway(None) as (gateway, talk):
        base = str(talk.client.base_url).removesuffix("/v1/")
        with pytest.raises(BadRequestError) as caught:
            await talk_to(base, **options).whole("Hi")
        assert caught.value.code == "broken" and caught.value.response.headers["x-should-retry"] == "false"
        assert len(gateway.problems) == 1 and problem in gateway.problems[0]
        assert (gateway.miss, gateway.served) == (None, 0)


HEADERS = {"x-test-role": "agent", "x-test-conversation": "c-1", "content-type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "changed", "body", "status", "problem"),
    [
        ("HEAD", "/v1/chat/completions", {}, b"", 404, "does not know 'HEAD /v1/chat/completions'"),
        ("GET", "/", {}, b"", 404, "does not know 'GET /'"),
        ("POST", "/v1/responses", {}, b"{}", 404, "does not know 'POST /v1/responses'"),
        ("POST", "/v1/chat/completions?x=1", {}, b"{}", 404, "does not know 'POST /v1/chat/completions?x=1'"),
        ("POST", "/v1/chat/completions", {"content-type": "text/plain"}, b"{}", 400, "content type 'text/plain'"),
        ("POST", "/v1/chat/completions", {"content-encoding": "gzip"}, b"{}", 400, "encoding 'gzip'"),
        ("POST", "/v1/chat/completions", {}, b"", 400, "not JSON"),
        ("POST", "/v1/chat/completions", {}, b'{"a":1,"a":2}', 400, "'a' twice"),
        ("POST", "/v1/chat/completions", {}, b'{"a":NaN}', 400, "NaN"),
        ("POST", "/v1/chat/completions", {}, b'{"a":1e999}', 400, "1e999"),
        ("POST", "/v1/chat/completions", {}, b'{"a":"\\ud83d"}', 400, "surrogate"),
        ("POST", "/v1/chat/completions", {}, b'"\xff"', 400, "not UTF-8"),
        ("POST", "/v1/chat/completions", {}, b"[" * 200_000, 400, "nested too deeply"),
        ("POST", "/v1/chat/completions", {}, b" " * (wire.MAX_REQUEST_BYTES + 1), 413, "too large"),
    ],
)  # fmt: skip
async def test_a_request_that_cannot_be_read_breaks_the_trial(
    method: str, path: str, changed: dict[str, str], body: bytes, status: int, problem: str,
    replaying_gateway: Replayer,
) -> None:  # fmt: skip
    async with replaying_gateway(None) as (gateway, talk), httpx.AsyncClient(trust_env=False) as client:
        base = str(talk.client.base_url).removesuffix("/v1/")
        response = await client.request(method, base + path, headers={**HEADERS, **changed}, content=body)
        assert response.status_code == status
        assert response.headers["x-should-retry"] == "false"
        assert len(gateway.problems) == 1 and problem in gateway.problems[0], gateway.problems
        assert (gateway.miss, gateway.served) == (None, 0)


async def test_an_alias_without_a_name_at_the_upstream_is_not_sent_there(recording_gateway: Recorder) -> None:
    async with recording_gateway(None) as (gateway, talk):
        with pytest.raises(BadRequestError, match="'other', which has no name"):
            await talk.client.chat.completions.create(model="other", messages=[])
        assert gateway.served == 0


async def test_a_gateway_that_replays_makes_no_recording(replaying_gateway: Replayer) -> None:
    gateway: Gateway
    async with replaying_gateway(None) as (gateway, _):
        with pytest.raises(RecordRefused, match="replays"):
            gateway.recording_made(recorded_at="2030-01-01T00:00:00Z", trial=0, contracts={})
