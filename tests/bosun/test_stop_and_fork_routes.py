"""The routes that stop a conversation and fork it: who may, what they answer, and what they leave behind."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from conftest import HandClock
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, begin, open_web

from bosun.ids import derive
from bosun.log.messages import ProposedCall
from bosun.mailbox.queue import Nudge
from bosun.mailbox.state import Taken

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def web(engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Web]:
    """The routes."""
    async with open_web(engine, redis, clock) as web:
        yield web


async def answer(web: Web, conversation_id: str, text: str) -> str:
    """Answer what waits, as a worker does, and return the reply's id."""
    said = (await web.mailbox.state(conversation_id)).pending
    for message in said:
        await web.log.accept_message(conversation_id, message)
    turn = await web.log.start_turn(conversation_id, said)
    await web.log.record_context(turn, 1, ["account"], {})
    (call,) = await web.log.record_calls(turn, 1, "", [ProposedCall(name="look", arguments='{"at": 1}')])
    await web.log.record_review(
        turn, call, effect="read", decision="allow", risk="low", reason="it only reads", by="rule"
    )
    await web.log.start_tool(turn, call, {"at": 1})
    await web.log.finish_tool(turn, call, "succeeded", "Seen.")
    await web.log.commit_reply(turn, text)
    taken = await web.mailbox.take(conversation_id)
    assert isinstance(taken, Taken)
    await web.mailbox.consume(taken.lease, turn.message_ids)
    await web.mailbox.release(taken.lease)
    return derive(turn.id, "message", 1)


async def test_a_stop_shows_until_it_is_carried_out(web: Web) -> None:
    """It is accepted as often as it is sent, and nudges a worker."""
    conversation_id = await begin(web)
    web.queue.nudges.clear()
    for content in (b"", b"{}"):
        stopped = await web.post(f"/api/conversations/{conversation_id}/stop", content=content)
        assert (stopped.status_code, stopped.json()) == (
            202,
            {"conversationId": conversation_id, "status": "stopping"},
        )
    assert web.queue.nudges == [Nudge(conversation_id, "message")] * 2
    pending = (await web.get(f"/api/conversations/{conversation_id}/pending")).json()
    assert (pending["status"], [each["text"] for each in pending["pending"]]) == ("stopping", ["Hello"])


async def test_a_stop_with_nothing_to_stop_does_nothing(web: Web) -> None:
    """Nobody is nudged."""
    conversation_id = await begin(web)
    await answer(web, conversation_id, "Hello, Morgan.")
    web.queue.nudges.clear()
    stopped = await web.post(f"/api/conversations/{conversation_id}/stop", {})
    assert (stopped.status_code, stopped.json()["status"]) == (202, "idle")
    assert web.queue.nudges == []


@pytest.mark.parametrize("route", ["stop", "forks"])
async def test_only_who_sees_a_conversation_and_may_write_stops_or_forks_it(web: Web, route: str) -> None:
    """To others it is not there."""
    conversation_id = await begin(web)
    path = f"/api/conversations/{conversation_id}/{route}"
    body = {"idempotencyKey": "f", "messageId": "m"} if route == "forks" else {}
    assert (await web.post(path, body, actor="eve")).status_code == 404
    assert (await web.post(path, body, actor="reader")).status_code == 403
    refused = await web.post(path, {**body, "actor": "eve"})
    assert (refused.status_code, refused.json()["error"]["fields"][0]["field"]) == (422, "actor")
    assert not (await web.mailbox.state(conversation_id)).stopping


async def test_a_fork_has_the_history_up_to_the_reply_and_is_a_conversation_of_its_own(web: Web) -> None:
    """With the tools that were called; without the title, and with nothing to do."""
    source = await begin(web)
    reply = await answer(web, source, "On Friday.")
    await web.log.set_title(source, "Budget")
    path = f"/api/conversations/{source}"
    await web.post(f"{path}/messages", {"idempotencyKey": "k2", "message": "And then?"})
    await answer(web, source, "On Monday.")
    web.queue.nudges.clear()
    made = await web.post(f"{path}/forks", {"idempotencyKey": "f", "messageId": reply})
    fork_id = derive(source, "fork", "f")
    assert (made.status_code, made.json()) == (202, {"conversationId": fork_id, "status": "created"})
    again = await web.post(f"{path}/forks", {"idempotencyKey": "f", "messageId": reply})
    assert (again.status_code, again.json()) == (200, {"conversationId": fork_id, "status": "duplicate"})
    assert web.queue.nudges == []
    original = (await web.get(path)).json()
    copy = (await web.get(f"/api/conversations/{fork_id}")).json()
    assert copy["title"] is None
    assert [message["text"] for message in copy["messages"]] == ["Hello", "On Friday."]
    assert [m["createdAt"] for m in copy["messages"]] == [m["createdAt"] for m in original["messages"][:2]]
    (turn,) = copy["turns"]
    assert turn["id"] == derive(fork_id, "turn", original["turns"][0]["id"])
    assert [message["turnId"] for message in copy["messages"]] == [turn["id"]] * 2
    (call,) = turn["toolCalls"]
    assert (call["status"], call["input"], call["output"]) == ("succeeded", {"at": 1}, "Seen.")
    assert turn["guardianReviews"] == []
    await web.post(f"/api/conversations/{fork_id}/messages", {"idempotencyKey": "k2", "message": "Why?"})
    await answer(web, fork_id, "Because.")
    texts = [m["text"] for m in (await web.get(f"/api/conversations/{fork_id}")).json()["messages"]]
    assert texts == ["Hello", "On Friday.", "Why?", "Because."]
    untouched = [m["text"] for m in (await web.get(path)).json()["messages"]]
    assert untouched == ["Hello", "On Friday.", "And then?", "On Monday."]


async def test_a_fork_needs_a_message_of_bosuns_in_the_same_conversation(web: Web) -> None:
    """A person's own message is none, nor is a reply elsewhere; nothing is made."""
    source = await begin(web)
    await answer(web, source, "On Friday.")
    elsewhere = await begin(web, "k9")
    reply_elsewhere = await answer(web, elsewhere, "On Monday.")
    for message_id in ("nothing", derive(source, "message", "k1"), reply_elsewhere):
        refused = await web.post(f"/api/conversations/{source}/forks", {"idempotencyKey": "f", "messageId": message_id})
        assert (refused.status_code, refused.json()["error"]["fields"][0]["field"]) == (422, "messageId")
    assert len((await web.get("/api/conversations")).json()["conversations"]) == 2
