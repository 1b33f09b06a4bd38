"""The route of Slack's events: only what Slack signed just now gets in, and is answered when it is taken in."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest
import pytest_asyncio
from conftest import HandClock
from fastapi import FastAPI
from redis.exceptions import ConnectionError as RedisAway
from slack_bodies import (
    BOT,
    CHANNEL,
    DIRECT,
    OTHER,
    PERSON,
    REAL,
    ROOT,
    TEAM,
    TS,
    Body,
    app_mention,
    assistant_started,
    changed,
    deleted,
    encoded,
    envelope,
    message,
    url_verification,
)
from slack_ingress import SECRET, SIGNATURE, KeptEvents, signed

from bosun.http.refusals import install_refusals
from bosun.http.slack import LARGEST_EVENT, PATH, slack_routes
from bosun.slack.channel import SlackThread
from bosun.slack.events import AssistantThreadStarted, MessageArrived, MessageDeleted
from bosun.slack.signature import WINDOW_SECONDS

pytestmark = pytest.mark.asyncio


@dataclass
class Route:
    """The route, and what is behind it."""

    client: httpx.AsyncClient
    intake: KeptEvents
    clock: HandClock

    async def send(self, body: bytes, *more: tuple[str, str], but: tuple[str, ...] = ()) -> httpx.Response:
        """Send a body as Slack does, with more headers, but without some of the usual ones."""
        sent = [*(each for each in signed(body, self.clock).items() if each[0] not in but), *more]
        raw = [(name.encode(), value.encode("latin-1")) for name, value in sent]
        return await self.client.post(PATH, content=body, headers=raw)

    async def event(self, event: Body) -> object:
        """Send an event and return the answer to it."""
        answer = await self.send(encoded(envelope(event)))
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest_asyncio.fixture
async def route(clock: HandClock) -> AsyncIterator[Route]:
    """The route as the app composes it."""
    app, intake = FastAPI(openapi_url=None), KeptEvents()
    install_refusals(app)
    app.include_router(slack_routes(signature=SIGNATURE, clock=clock, intake=intake))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://bosun") as client:
        yield Route(client, intake, clock)


def refused(route: Route, answer: httpx.Response, status: int, code: str) -> str:
    """Check a refusal in the house's shape, behind which nothing happened, and return its words."""
    assert answer.status_code == status, answer.text
    assert route.intake.events == []
    assert answer.json()["error"]["code"] == code
    return str(answer.json()["error"]["message"])


async def test_the_address_is_verified(route: Route) -> None:
    """By a signed question alone."""
    body = url_verification()
    answer = await route.send(encoded(body))
    assert (answer.status_code, answer.json()) == (200, {"challenge": body["challenge"]})
    unsigned = await route.send(encoded(body), but=("X-Slack-Signature",))
    assert body["challenge"] not in refused(route, unsigned, 401, "unauthorized")


async def test_each_event_goes_where_it_belongs(route: Route) -> None:
    """With its workspace."""
    assert await route.event(app_mention()) == {"status": "accepted"}
    assert await route.event(message(f"<@{BOT}> hello")) == {"status": "duplicate"}
    assert await route.event(message(ts="1.1")) == {"status": "not_for_bosun"}
    assert await route.event(changed()) == {"status": "accepted"}
    assert await route.event(deleted()) == {"status": "accepted"}
    assert await route.event(assistant_started()) == {"status": "accepted"}
    here = SlackThread(CHANNEL, TS)
    mention = MessageArrived(
        thread=here, ts=TS, user_id=PERSON, text=f"<@{BOT}> hello", mentions_bot=True, direct=False, bot_user_id=BOT
    )
    assert route.intake.events[:2] == [(TEAM, mention)] * 2
    assert route.intake.events[-2:] == [
        (TEAM, MessageDeleted(thread=here, ts=TS)),
        (TEAM, AssistantThreadStarted(thread=SlackThread(DIRECT, ROOT), user_id=PERSON)),
    ]
    assert len(route.intake.events) == 6


@pytest.mark.parametrize(
    "event", [message(user=BOT), message(bot_id="B1"), message(subtype="channel_join"), {"type": "new"}]
)
async def test_what_is_no_persons_is_answered_and_goes_nowhere(route: Route, event: Body) -> None:
    """Slack would send it again else."""
    assert await route.event(event) == {"status": "ignored"}
    assert route.intake.events == []


@pytest.mark.parametrize("seconds", [-WINDOW_SECONDS - 1, WINDOW_SECONDS + 1])
async def test_an_old_request_cannot_be_sent_again(route: Route, seconds: int) -> None:
    """The app's clock decides."""
    body = encoded(envelope(app_mention()))
    timestamp = str(int(route.clock.now().timestamp()))
    stamped = ("X-Slack-Request-Timestamp", timestamp), ("X-Slack-Signature", SIGNATURE.of(timestamp, body))
    usual = tuple(name for name, _ in stamped)
    start = route.clock.at
    route.clock.at = start + timedelta(seconds=seconds)
    assert "clock" in refused(route, await route.send(body, *stamped, but=usual), 401, "unauthorized")
    route.clock.at = start + timedelta(seconds=WINDOW_SECONDS)
    assert (await route.send(body, *stamped, but=usual)).status_code == 200


@pytest.mark.parametrize("header", ["X-Slack-Signature", "X-Slack-Request-Timestamp"])
@pytest.mark.parametrize("values", [(), ("",), ("x",), ("\xff",), ("v0=" + "0" * 64,), ("1900000000",)])
async def test_without_its_signature_nothing_gets_in(route: Route, header: str, values: tuple[str, ...]) -> None:
    """Missing, empty, or another's."""
    answer = await route.send(encoded(envelope(app_mention())), *((header, value) for value in values), but=(header,))
    refused(route, answer, 401, "unauthorized")


@pytest.mark.parametrize("header", ["X-Slack-Signature", "X-Slack-Request-Timestamp"])
async def test_a_header_that_occurs_twice_is_refused(route: Route, header: str) -> None:
    """Before the right one, behind it, and the right one twice: a proxy may have checked the other."""
    body = encoded(envelope(app_mention()))
    timestamp = str(int(route.clock.now().timestamp()))
    right = {"X-Slack-Signature": SIGNATURE.of(timestamp, body), "X-Slack-Request-Timestamp": timestamp}[header]
    for values in ((right, right), (right, "x"), ("x", right)):
        answer = await route.send(body, *((header, value) for value in values), but=(header,))
        assert "more than once" in refused(route, answer, 401, "unauthorized")


async def test_a_token_opens_nothing_here(route: Route) -> None:
    """An API token is no signature."""
    answer = await route.send(
        encoded(envelope(app_mention())), ("Authorization", "Bearer x"), but=("X-Slack-Signature",)
    )
    refused(route, answer, 401, "unauthorized")


@pytest.mark.parametrize(
    "change", [lambda body: body + b" ", lambda body: body[:-1], lambda body: body.replace(b"hello", b"hullo")]
)
async def test_another_body_than_the_signed_one(route: Route, change: object) -> None:
    """Slack signed other words."""
    assert callable(change)
    body = encoded(envelope(app_mention()))
    timestamp = str(int(route.clock.now().timestamp()))
    signed = ("X-Slack-Signature", SIGNATURE.of(timestamp, body))
    refused(route, await route.send(change(body), signed, but=("X-Slack-Signature",)), 401, "unauthorized")


async def test_a_body_too_large_is_not_read_to_its_end(route: Route) -> None:
    """Not even to learn who sends it."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 65_536

    refused(route, await route.client.post(PATH, content=endless()), 413, "body_too_large")
    assert sent <= LARGEST_EVENT // 65_536 + 2


async def test_a_body_as_large_as_may_be(route: Route) -> None:
    """One byte more is too much."""
    body = encoded(envelope(app_mention()))
    largest = body + b" " * (LARGEST_EVENT - len(body))
    refused(route, await route.send(largest + b" "), 413, "body_too_large")
    assert (await route.send(largest)).status_code == 200


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "text/plain", "", "application/jsonp", "multipart/form-data"]
)
async def test_another_kind_of_content_is_refused(route: Route, kind: str) -> None:
    """Slack's commands and buttons come as forms: this is not their address. The unsigned learn nothing of it."""
    body = encoded(envelope(app_mention()))
    answer = await route.send(body, ("Content-Type", kind), but=("Content-Type",))
    assert "event subscriptions" in refused(route, answer, 415, "unsupported_media_type")
    refused(route, await route.send(body, but=("Content-Type",)), 415, "unsupported_media_type")
    unsigned = await route.send(body, ("Content-Type", kind), but=("Content-Type", "X-Slack-Signature"))
    refused(route, unsigned, 401, "unauthorized")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
async def test_json_by_other_names(route: Route, kind: str) -> None:
    """As RFC 9110 lets one write it."""
    answer = await route.send(encoded(envelope(app_mention())), ("Content-Type", kind), but=("Content-Type",))
    assert answer.status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 50_000, b"null"])
async def test_what_is_no_json_object(route: Route, body: bytes) -> None:
    """Signed or not, it is nothing."""
    refused(route, await route.send(body), 400, "invalid_json")


async def test_a_wrong_field_is_named(route: Route) -> None:
    """As on the other routes."""
    answer = await route.send(encoded(envelope(message(ts="x", channel=7))))
    refused(route, answer, 422, "invalid_request")
    assert {each["field"] for each in answer.json()["error"]["fields"]} == {"event.ts", "event.channel"}


async def test_a_refusal_repeats_no_secret_and_no_signature(route: Route) -> None:
    """Neither the right one."""
    body = encoded(envelope(app_mention()))
    timestamp = str(int(route.clock.now().timestamp()))
    answer = await route.send(
        body + b" ", ("X-Slack-Signature", SIGNATURE.of(timestamp, body)), but=("X-Slack-Signature",)
    )
    words = refused(route, answer, 401, "unauthorized")
    assert "v0=" not in words and SECRET not in words


async def test_a_store_that_is_away_makes_slack_send_again(route: Route) -> None:
    """Nothing was durable, so that there is no 200."""
    route.intake.store_away = RedisAway("gone")
    answer = await route.send(encoded(envelope(app_mention())))
    refused(route, answer, 503, "store_away")
    assert answer.headers["retry-after"]


async def test_a_retry_is_only_logged(route: Route, caplog: pytest.LogCaptureFixture) -> None:
    """It is the same message as before."""
    body = encoded(envelope(app_mention()))
    retry = (("X-Slack-Retry-Num", "1"), ("X-Slack-Retry-Reason", "http_timeout\x0b" + "x" * 500))
    caplog.set_level(logging.INFO, "bosun.http")
    assert (await route.send(body)).json() == {"status": "accepted"}
    assert (await route.send(body, *retry)).json() == {"status": "duplicate"}
    said = [record.getMessage() for record in caplog.records if "sends again" in record.getMessage()]
    assert len(said) == 1 and "http_timeout" in said[0] and len(said[0]) < 200 and said[0].isprintable()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_there_is_one_way_in(route: Route, method: str) -> None:
    """Nothing to read."""
    answer = await route.client.request(method, PATH)
    assert answer.status_code == 405


async def test_every_real_body_is_answered(route: Route) -> None:
    """With 200 and an object."""
    for body in REAL:
        answer = await route.send(json.dumps(body, ensure_ascii=False).encode())
        assert answer.status_code == 200 and isinstance(answer.json(), dict)
    assert OTHER not in {event.user_id for _, event in route.intake.events if isinstance(event, MessageArrived)}
