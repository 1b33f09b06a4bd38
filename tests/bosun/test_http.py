"""The routes: who may, what a body may be, and that nothing is stored of what is refused. No worker runs here."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from conftest import HandClock
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, begin, open_web

from bosun.http.bodies import LARGEST_BODY, LONGEST_MESSAGE
from bosun.http.health import health_routes
from bosun.ids import derive
from bosun.mailbox.queue import Nudge
from bosun.stores.redis import connect

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def web(engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Web]:
    """The routes."""
    async with open_web(engine, redis, clock) as web:
        yield web


async def test_a_message_is_durable_before_it_is_answered_and_then_nudged(web: Web) -> None:
    """The ids derive from the actor and the key."""
    answer = await web.post("/api/conversations", {"idempotencyKey": "k1", "message": "Hello"})
    conversation_id = derive("morgan", "web", "k1")
    message_id = derive(conversation_id, "message", "k1")
    assert answer.status_code == 202
    assert answer.json() == {
        "conversationId": conversation_id,
        "messageId": message_id,
        "status": "accepted",
    }
    pending = (await web.mailbox.state(conversation_id)).pending
    assert [(each.id, each.actor_id, each.author, each.text) for each in pending] == [
        (message_id, "morgan", "Morgan", "Hello")
    ]
    assert web.queue.nudges == [Nudge(conversation_id, "message")]


async def test_the_same_key_is_the_same_message(web: Web) -> None:
    """It nudges again, for the first nudge may have been lost."""
    conversation_id = await begin(web)
    again = await web.post("/api/conversations", {"idempotencyKey": "k1", "message": "Hello"})
    assert (again.json()["conversationId"], again.json()["status"]) == (conversation_id, "duplicate")
    assert len((await web.mailbox.state(conversation_id)).pending) == 1
    assert await begin(web, actor="eve") != conversation_id


async def test_a_conversation_is_continued_under_its_own_keys(web: Web) -> None:
    """In arrival order."""
    conversation_id = await begin(web)
    path = f"/api/conversations/{conversation_id}/messages"
    assert (await web.post(path, {"idempotencyKey": "k2", "message": "More"})).json()["status"] == "accepted"
    assert (await web.post(path, {"idempotencyKey": "k2", "message": "More"})).json()["status"] == "duplicate"
    assert [each.text for each in (await web.mailbox.state(conversation_id)).pending] == ["Hello", "More"]


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Basic bW9yZ2FuOg==", "Bearer \xff"])
async def test_without_a_valid_token_there_is_a_challenge(web: Web, header: str | None) -> None:
    """RFC 6750 says how."""
    headers = {} if header is None else {b"authorization": header.encode("latin-1")}
    answer = await web.client.post("/api/conversations", json={"idempotencyKey": "k", "message": "m"}, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Bearer realm="bosun"')
    assert await web.is_untouched()


async def test_without_the_scope_the_refusal_names_it(web: Web) -> None:
    """A reader may read and not write."""
    answer = await web.post("/api/conversations", {"idempotencyKey": "k", "message": "m"}, actor="reader")
    assert answer.status_code == 403
    assert "'conversations:write'" in answer.json()["error"]["message"]
    assert 'scope="conversations:write"' in answer.headers["www-authenticate"]
    assert await web.is_untouched()
    assert (await web.get("/api/conversations", actor="reader")).status_code == 200


async def test_another_actors_conversation_is_not_there(web: Web) -> None:
    """In the same words as one that never was."""
    conversation_id = await begin(web)
    for path in ("", "/events", "/pending"):
        hidden = await web.get(f"/api/conversations/{conversation_id}{path}", actor="eve")
        missing = await web.get(f"/api/conversations/web:none{path}", actor="eve")
        assert (hidden.status_code, hidden.json()) == (missing.status_code, missing.json())
        assert hidden.status_code == 404
    said = await web.post(
        f"/api/conversations/{conversation_id}/messages", {"idempotencyKey": "k", "message": "m"}, actor="eve"
    )
    assert said.status_code == 404
    assert (await web.get("/api/conversations", actor="eve")).json() == {"conversations": []}


BAD_BODIES = {
    "no body": (b"", 400, "body"),
    "no JSON": (b"{", 400, "body"),
    "no UTF-8": (b'{"idempotencyKey": "k", "message": "\xff"}', 400, "body"),
    "too deep": (b"[" * 100_000, 400, "body"),
    "a number that JSON lacks": (b'{"idempotencyKey": "k", "message": NaN}', 400, "body"),
    "a name twice": (b'{"idempotencyKey": "k", "message": "a", "message": "b"}', 400, "body"),
    "too large": (b" " * (LARGEST_BODY + 1), 413, "body"),
    "no object": (b"[]", 422, "body"),
    "no key": (b'{"message": "m"}', 422, "idempotencyKey"),
    "no message": (b'{"idempotencyKey": "k"}', 422, "message"),
    "an unknown field": (b'{"idempotencyKey": "k", "message": "m", "actor": "eve"}', 422, "actor"),
    "a number": (b'{"idempotencyKey": "k", "message": 7}', 422, "message"),
    "nothing": (b'{"idempotencyKey": "k", "message": null}', 422, "message"),
    "blank": (b'{"idempotencyKey": "k", "message": " \\n"}', 422, "message"),
    "an empty key": (b'{"idempotencyKey": "", "message": "m"}', 422, "idempotencyKey"),
    "a NUL": (b'{"idempotencyKey": "k", "message": "a\\u0000b"}', 422, "message"),
    "a NUL in the key": (b'{"idempotencyKey": "\\u0000k", "message": "m"}', 422, "idempotencyKey"),
    "a lone surrogate": (b'{"idempotencyKey": "k", "message": "\\ud800"}', 422, "message"),
    "a lone surrogate as a name": (b'{"idempotencyKey": "k", "message": "m", "\\ud800": 1}', 422, "body"),
    "too long": (b'{"idempotencyKey": "k", "message": "%s"}' % (b"m" * (LONGEST_MESSAGE + 1)), 422, "message"),
    "a key that is too long": (b'{"idempotencyKey": "%s", "message": "m"}' % (b"k" * 201), 422, "idempotencyKey"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
async def test_a_bad_body_is_refused_with_its_field_and_nothing_is_stored(web: Web, name: str) -> None:
    """Each with a 4xx."""
    content, status, bad_field = BAD_BODIES[name]
    answer = await web.post("/api/conversations", content=content)
    assert answer.status_code == status
    assert [each["field"] for each in answer.json()["error"]["fields"]] == [bad_field]
    assert await web.is_untouched()


async def test_text_that_is_merely_unusual_is_kept_as_it_is(web: Web) -> None:
    """Beyond the basic plane, escaped or not."""
    content = '{"idempotencyKey": "k", "message": "\\ud83d\\ude00 😀\\u2028<b>"}'.encode()
    answer = await web.post("/api/conversations", content=content)
    assert answer.status_code == 202
    pending = (await web.mailbox.state(answer.json()["conversationId"])).pending
    assert pending[0].text == "😀 😀\u2028<b>"


@pytest.mark.parametrize("query", ["before=0", "before=x", "before=9223372036854775808", "limit=0", "limit=1000"])
async def test_a_bad_query_is_refused_with_its_name(web: Web, query: str) -> None:
    """In the shape of every refusal."""
    conversation_id = await begin(web)
    answer = await web.get(f"/api/conversations/{conversation_id}/events?{query}")
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"][0]["field"] == query.split("=")[0]


@pytest.mark.parametrize("path", ["/api/conversations/%00", "/api/conversations/%ED%A0%80", "/api/conversations/x%0Ay"])
async def test_an_id_that_no_store_can_hold_is_not_there(web: Web, path: str) -> None:
    """Not an error of the store."""
    assert (await web.get(path)).status_code == 404


async def test_pending_shows_the_mailbox_and_no_secret(web: Web) -> None:
    """The lease's times are shown, its token is not."""
    conversation_id = await begin(web)
    await web.mailbox.take(conversation_id)
    answer = (await web.get(f"/api/conversations/{conversation_id}/pending")).json()
    assert answer == {
        "conversationId": conversation_id,
        "status": "running",
        "pending": [
            {
                "id": derive(conversation_id, "message", "k1"),
                "author": "Morgan",
                "text": "Hello",
                "receivedAt": "2030-01-15T12:00:00Z",
            }
        ],
        "retries": 0,
        "lease": {"expiresAt": "2030-01-15T12:01:30Z", "checkedInAt": "2030-01-15T12:00:00Z"},
        "deadLetters": [],
        "authorizationPrompt": None,
    }


async def test_health_says_which_store_is_down(web: Web) -> None:
    """To anybody, and nothing of where it is."""
    answer = await web.client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"postgres": "ok", "redis": "ok"})
    app = FastAPI()
    nowhere = connect("unix:///nowhere.sock")
    app.include_router(health_routes(web.engine, nowhere))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bosun") as client:
        answer = await client.get("/health")
    await nowhere.aclose()
    assert answer.status_code == 503
    assert answer.json() == {"postgres": "ok", "redis": "not reachable (ConnectionError)"}
