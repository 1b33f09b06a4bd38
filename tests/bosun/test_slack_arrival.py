"""The whole way in from Slack, on real stores: what is answered with 200 is durable, and what is refused is nowhere."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from conftest import HandClock
from redis.asyncio import Redis
from slack_bodies import BOT, CHANNEL, PERSON, TEAM, TS, Body, app_mention, direct, encoded, envelope, message
from slack_ingress import signed
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, open_web

from bosun.http.slack import PATH
from bosun.ids import derive
from bosun.mailbox.queue import Nudge
from bosun.slack.channel import SlackThread

pytestmark = pytest.mark.asyncio

CONVERSATION = SlackThread(CHANNEL, TS).conversation_id


@pytest_asyncio.fixture
async def web(engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Web]:
    """The routes."""
    async with open_web(engine, redis, clock) as web:
        yield web


async def send(web: Web, clock: HandClock, event: Body, **more: object) -> httpx.Response:
    """Send an event as Slack does."""
    body = encoded(envelope(event, **more))
    return await web.client.post(PATH, content=body, headers=signed(body, clock))


async def test_a_mention_is_durable_before_it_is_answered_and_then_nudged(web: Web, clock: HandClock) -> None:
    """Its two events, and each of them again, are one message."""
    text = f"<@{BOT}> a &lt; b?"
    events = [app_mention(text), message(text)]
    answers = [await send(web, clock, event, event_id=f"Ev{at}") for at, event in enumerate(events * 2)]
    assert [answer.json()["status"] for answer in answers] == ["accepted", *["duplicate"] * 3]
    pending = (await web.mailbox.state(CONVERSATION)).pending
    assert [(each.id, each.actor_id, each.source, each.text) for each in pending] == [
        (derive(CONVERSATION, "message", TS), f"slack:{TEAM}:{PERSON}", "slack", "a < b?")
    ]
    assert set(web.queue.nudges) == {Nudge(CONVERSATION, "message")}


async def test_a_direct_message_needs_no_mention(web: Web, clock: HandClock) -> None:
    """It is said to nobody else."""
    assert (await send(web, clock, direct("Hello"))).json() == {"status": "accepted"}


async def test_what_is_not_for_bosun_is_kept_nowhere(web: Web, clock: HandClock) -> None:
    """People talk to each other."""
    assert (await send(web, clock, message("Lunch?"))).json() == {"status": "not_for_bosun"}
    assert (await send(web, clock, app_mention(bot_id="B0001"))).json() == {"status": "ignored"}
    assert await web.is_untouched()


async def test_what_slack_did_not_sign_is_kept_nowhere(web: Web, clock: HandClock) -> None:
    """Whatever token it brings: an unsigned one, an old one, one with another body."""
    body = encoded(envelope(app_mention()))
    token = {"authorization": f"Bearer {web.tokens['morgan']}", "content-type": "application/json"}
    old = signed(body, clock)
    clock.advance(301)
    for headers in (token, token | old, token | signed(body + b" ", clock)):
        assert (await web.client.post(PATH, content=body, headers=headers)).status_code == 401
    assert await web.is_untouched()
