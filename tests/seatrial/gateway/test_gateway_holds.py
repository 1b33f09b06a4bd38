"""Who looks on at the gateway holds requests and answers; the agent gets nothing of what is held."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import openai
import pytest

from seatrial.gateway.exchange import Aborted, Answer, Role, Stream
from seatrial.gateway.tool_calls import CalledTool
from seatrial.gateway.watcher import NotReleased

if TYPE_CHECKING:
    from conftest import Recorder, Replayer, Site, Talk

pytestmark = pytest.mark.asyncio

CALL = {"index": 0, "id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


class Looker:
    """Looks on at one role, and lets requests (`go`) and answers (`answer`) go when a test says so."""

    def __init__(self, *, role: Role = "agent") -> None:
        self.told: list[object] = []
        self.heard = asyncio.Event()
        self.go = asyncio.Event()
        self.called_at = asyncio.Event()
        self.answer = asyncio.Event()
        self.role = role
        self.fails = False

    def holds(self, role: Role) -> bool:
        return role == self.role

    async def asked(self, role: Role) -> None:
        if self.holds(role):
            self.told.append("asked")
            self.heard.set()
            await self.go.wait()
            if self.fails:
                raise NotReleased("whoever looked on failed")

    async def called(self, role: Role, calls: Sequence[CalledTool]) -> None:
        self.told.append(tuple(call.name for call in calls))
        self.called_at.set()
        await self.answer.wait()

    def failed_request(self) -> None:
        self.told.append("failed")

    async def kept_waiting(self, gone: asyncio.Future[None]) -> None:
        self.told.append("kept waiting")
        await gone


def call_site(site: Site, *, then: Any = "end") -> None:
    """Lay out a stream of words and a call."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[dict[str, Any]] = [{"content": "let me see"}, {"tool_calls": [CALL]}]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    site.raw(200, {"content-type": "text/event-stream"}, [*lines, b"data: [DONE]\n\n"], then)


async def passes(talk: Talk) -> None:
    """Let two other requests go through, which have to take longer than anything that is not held."""
    for _ in range(2):
        await talk.client.models.list()


async def test_a_request_is_asked_upstream_only_when_it_is_let_go(site: Site, recording_gateway: Recorder) -> None:
    site.whole("Hello")
    looker = Looker()
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        gateway.watcher = looker
        asking = asyncio.create_task(talk.whole("Hi"))
        await looker.heard.wait()
        await passes(talk)
        assert (site.asked, gateway.in_flight) == ([], 1)
        looker.go.set()
        assert await asking == "Hello"


async def test_the_agent_has_nothing_of_a_stream_with_calls_before_it_is_let_go(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    call_site(site)
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        parts = await held_parts(gateway, talk)
        recording = await made(gateway)
    assert isinstance(recording.exchanges[0].outcome, Stream)
    async with replaying_gateway(recording) as (gateway, talk), asyncio.timeout(5):
        assert await held_parts(gateway, talk) == parts == ["let me see"]


async def held_parts(gateway: Any, talk: Talk) -> list[str]:
    looker = Looker()
    gateway.watcher = looker
    got: list[str] = []

    async def read() -> None:
        async for part in talk.parts("Hi"):
            got.append(part)

    reading = asyncio.create_task(read())
    looker.go.set()
    await looker.called_at.wait()
    await passes(talk)
    assert (got, looker.told) == ([], ["asked", ("look",)])
    looker.answer.set()
    await reading
    return got


async def test_other_roles_and_answers_without_calls_are_not_held(site: Site, recording_gateway: Recorder) -> None:
    site.stream("He", "llo")
    looker = Looker(role="title")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        gateway.watcher = looker
        assert await talk.stream("Hi") == ["He", "llo"]
    assert looker.told == []


async def test_a_request_that_is_not_released_gets_a_refusal_and_no_problem_hides_why(
    site: Site, recording_gateway: Recorder
) -> None:
    looker = Looker()
    looker.fails = True
    looker.go.set()
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        gateway.watcher = looker
        with pytest.raises(openai.BadRequestError, match="whoever looked on failed"):
            await talk.whole("Hi")
        assert gateway.problems == () and site.asked == []


async def test_a_client_that_leaves_while_its_answer_is_held_was_answered(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    call_site(site)
    looker = Looker()
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        gateway.watcher = looker
        asking = asyncio.create_task(talk.stream("Hi"))
        looker.go.set()
        await looker.called_at.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await passes(talk)
        looker.answer.set()
        recording = await made(gateway)
    assert [exchange.outcome.kind for exchange in recording.exchanges] == ["stream"]


async def test_a_client_that_leaves_while_its_request_is_held_has_aborted(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.raw(200, {}, [], "hang")
    looker = Looker()
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        gateway.watcher = looker
        asking = asyncio.create_task(talk.whole("Hi"))
        await looker.heard.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await passes(talk)
        looker.go.set()
        recording = await made(gateway)
    assert [exchange.outcome for exchange in recording.exchanges] == [Aborted()]


async def test_an_abort_is_asked_again_while_recording_and_replaced_when_it_is_over(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.raw(200, {}, [], "hang")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        asking = asyncio.create_task(talk.whole("Hi"))
        await site.arrived.wait()
        asking.cancel()
        await site.left.wait()
        older = await made(gateway)
    site.whole("Hello")
    async with recording_gateway(older) as (gateway, talk), asyncio.timeout(5):
        assert await talk.whole("Hi") == "Hello"
        newer = await made(gateway)
        assert [request.source for request in gateway.requests] == ["spent"]
    assert isinstance(newer.exchanges[0].outcome, Answer)


async def test_an_abort_that_is_held_in_a_replay_is_named_until_the_client_is_gone(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.raw(200, {}, [], "hang")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        asking = asyncio.create_task(talk.whole("Hi"))
        await site.arrived.wait()
        asking.cancel()
        await site.left.wait()
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk), asyncio.timeout(5):
        asking = asyncio.create_task(talk.whole("Hi"))
        while not gateway.held():
            await talk.client.models.list()
        assert "role agent, conversation 1" in gateway.held()[0]
        asking.cancel()
        await gateway.settle()
        assert gateway.held() == ()


async def test_an_error_of_the_service_is_told_before_the_agent_has_it(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    body = json.dumps({"error": {"message": "no", "type": "t", "param": None, "code": None}}).encode()
    site.raw(422, {"content-type": "application/json"}, [body])
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        assert await told_of_error(gateway, talk) == ["failed"]
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk), asyncio.timeout(5):
        assert await told_of_error(gateway, talk) == ["failed"]


async def told_of_error(gateway: Any, talk: Talk) -> list[object]:
    looker = Looker(role="title")
    gateway.watcher = looker
    with pytest.raises(openai.UnprocessableEntityError):
        await talk.whole("Hi")
    return list(looker.told)
