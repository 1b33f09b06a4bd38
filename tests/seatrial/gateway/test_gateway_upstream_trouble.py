"""Nothing transient is recorded: it goes to the agent as it is, and the recording is told to be incomplete."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openai
import pytest

from seatrial.gateway.recording import Answer
from seatrial.gateway.server import Gateway, RecordRefused
from seatrial.gateway.upstream import Upstream
from seatrial.headers import HeaderNames
from seatrial.serving import serve

if TYPE_CHECKING:
    from conftest import Recorder, Site

pytestmark = pytest.mark.asyncio

JSON_HEADERS = {"content-type": "application/json"}
STREAM_HEADERS = {"content-type": "text/event-stream"}


def error_body(code: str) -> list[bytes]:
    return [json.dumps({"error": {"message": "no", "type": "t", "param": None, "code": code}}).encode()]


async def nothing_recorded(gateway: Gateway, problem: str) -> None:
    await gateway.settle()
    assert len(gateway.problems) == 1 and problem in gateway.problems[0], gateway.problems
    with pytest.raises(RecordRefused, match="no request was answered"):
        gateway.recording_made(recorded_at="2030-01-01T00:00:00Z", trial=0, contracts={})


@pytest.mark.parametrize("status", [301, 401, 403, 404, 408, 409, 425, 429, 500, 502, 503, 529])
async def test_an_answer_that_speaks_of_the_moment_or_the_setup_is_passed_on_and_not_recorded(
    status: int, site: Site, recording_gateway: Recorder
) -> None:
    site.raw(status, {**JSON_HEADERS, "retry-after": "3", "x-request-id": "1"}, error_body("overloaded"))
    async with recording_gateway(None) as (gateway, talk):
        with pytest.raises(openai.APIStatusError) as caught:
            await talk.whole("Hi")
        assert caught.value.status_code == status
        assert caught.value.response.headers["retry-after"] == "3"
        assert "x-request-id" not in caught.value.response.headers
        await nothing_recorded(gateway, f"the upstream answered {status}")


async def test_a_refusal_of_the_request_itself_is_recorded(site: Site, recording_gateway: Recorder, made: Any) -> None:
    site.raw(400, JSON_HEADERS, error_body("context_length_exceeded"))
    async with recording_gateway(None) as (gateway, talk):
        with pytest.raises(openai.BadRequestError):
            await talk.whole("Hi")
        outcome = (await made(gateway)).exchanges[0].outcome
    assert isinstance(outcome, Answer) and outcome.status == 400 and gateway.problems == ()


async def test_what_a_filter_refused_is_not_recorded(site: Site, recording_gateway: Recorder) -> None:
    site.raw(400, JSON_HEADERS, error_body("content_filter"))
    async with recording_gateway(None) as (gateway, talk):
        with pytest.raises(openai.BadRequestError):
            await talk.whole("Hi")
        await nothing_recorded(gateway, "a filter refused the request")
    message = {"role": "assistant", "content": ""}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "content_filter"}]}
    site.raw(200, JSON_HEADERS, [json.dumps(body).encode()])
    async with recording_gateway(None) as (gateway, talk):
        assert await talk.whole("Hi") == ""
        await nothing_recorded(gateway, "a filter refused the answer")
    event = {"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]}
    events = [f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode()]
    site.raw(200, STREAM_HEADERS, events)
    async with recording_gateway(None) as (gateway, talk):
        assert await talk.stream("Hi") == []
        await nothing_recorded(gateway, "a filter refused the answer")


@pytest.mark.parametrize("then", ["cut", "end"])
async def test_a_stream_without_its_end_is_cut_for_the_agent_too(
    then: Any, site: Site, recording_gateway: Recorder
) -> None:
    site.stream("Hel", "lo", done=False, then=then)
    async with recording_gateway(None) as (gateway, talk):
        seen: list[str] = []
        with pytest.raises(Exception, match=r"(?i)incomplete|peer closed|connection"):
            async for part in talk.parts("Hi"):
                seen.append(part)
        assert seen == ["Hel", "lo"]
        await nothing_recorded(gateway, "the upstream")


async def test_an_error_inside_a_stream_reaches_the_agent_and_not_the_recording(
    site: Site, recording_gateway: Recorder
) -> None:
    events = b'data: {"choices":[]}\n\ndata: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n'
    site.raw(200, STREAM_HEADERS, [events])
    async with recording_gateway(None) as (gateway, talk):
        with pytest.raises(openai.APIError, match="overloaded"):
            await talk.stream("Hi")
        await nothing_recorded(gateway, "the stream reported an error: overloaded")


@pytest.mark.parametrize(
    ("headers", "body", "problem"),
    [
        ({"content-type": "text/html"}, b"<p>", "unknown content type 'text/html'"),
        ({}, b"{}", "unknown content type ''"),
        (JSON_HEADERS, b'{"a": 1', "cannot be read"),
        (JSON_HEADERS, b'{"a": NaN}', "NaN"),
        (JSON_HEADERS, b'{"a": "\xff"}', "not UTF-8"),
        (JSON_HEADERS, b'{"a": 1, "a": 2}', "'a' twice"),
        ({**JSON_HEADERS, "content-encoding": "gzip"}, b"not gzip", "cannot be decoded"),
        ({**JSON_HEADERS, "content-encoding": "br"}, b"x", "content encoding 'br'"),
        (STREAM_HEADERS, b"data: {}\n\ndata: \xff\n\ndata: [DONE]\n\n", "not UTF-8"),
        (STREAM_HEADERS, b"data: words\n\ndata: [DONE]\n\n", "event 1 of the stream is not JSON"),
        (STREAM_HEADERS, b"event: x\ndata: {}\n\ndata: [DONE]\n\n", "event field 'event'"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_a_problem(
    headers: dict[str, str], body: bytes, problem: str, site: Site, recording_gateway: Recorder
) -> None:
    site.raw(200, headers, [body])
    async with recording_gateway(None) as (gateway, talk):
        response = talk.client.with_raw_response.chat.completions.create(model="alias", messages=[])
        await asyncio.gather(response, return_exceptions=True)
        await nothing_recorded(gateway, problem)


async def test_a_timeout_and_a_missing_upstream_are_told_to_the_agent(
    site: Site, talk_to: Any, names: HeaderNames
) -> None:
    site.raw(200, {}, [], "hang")
    async with serve(lambda *_: asyncio.sleep(0), lifespan=False) as closed:
        pass
    for upstream, status, problem in (
        (site.upstream(timeout=0.05), 504, "did not answer in time"),
        (Upstream(base_url=closed + "/v1", kind="test"), 502, "cannot be reached"),
    ):
        gateway = Gateway(header_names=names, recording=None, upstream=upstream)
        async with serve(gateway.app, lifespan=False) as url:
            with pytest.raises(openai.APIStatusError) as caught:
                await talk_to(url).whole("Hi")
            assert caught.value.status_code == status
            await nothing_recorded(gateway, problem)


async def test_the_upstream_is_reached_through_a_unix_socket(
    site: Site, talk_to: Any, made: Any, names: HeaderNames, tmp_path: Path
) -> None:
    socket = tmp_path / "model.sock"
    host, port = site.url.removeprefix("http://").split(":")

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward_writer = await asyncio.open_connection(host, int(port))

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, onward_writer), pump(onward_reader, writer))

    site.stream("through ", "the socket")
    async with await asyncio.start_unix_server(join, socket):
        upstream = Upstream(base_url="http://upstream/v1", kind="test", socket=socket)
        gateway = Gateway(header_names=names, recording=None, upstream=upstream)
        async with serve(gateway.app, lifespan=False) as url:
            assert await talk_to(url).stream("Hi") == ["through ", "the socket"]
            assert len((await made(gateway)).exchanges) == 1
