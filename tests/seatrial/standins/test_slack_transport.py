"""The stand-in for Slack refuses requests that Slack could not read, and fails when a test orders it."""

from __future__ import annotations

import asyncio
import http.client
from typing import Any

import httpx
import pytest
from slack_sdk.errors import SlackApiError
from workspaces import Served, served

from seatrial.slack import SLACK_METHODS, SlackPost
from seatrial.standins.slack import Fault
from seatrial.standins.slack.methods import METHODS


async def raw(slack: Served, **how: Any) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {slack.api.bot_token}", **how.pop("headers", {})}
    async with httpx.AsyncClient() as client:
        response = await client.post(f"{slack.client.base_url}auth.test", headers=headers, **how)
    found: dict[str, Any] = response.json()
    return found


async def test_the_token_comes_in_a_header_or_as_an_argument_and_is_kept_out_of_the_calls() -> None:
    async with served() as slack:
        assert (await raw(slack))["ok"] is True
        by_argument = {"headers": {"authorization": ""}, "data": {"token": slack.api.bot_token}}
        assert (await raw(slack, **by_argument))["ok"] is True
        assert [call.args for call in slack.api.calls] == [{}, {}]


@pytest.mark.parametrize(("header", "error"), [("", "not_authed"), ("Bearer xoxb-other", "invalid_auth")])
async def test_nobody_else_gets_in(header: str, error: str) -> None:
    async with served() as slack:
        assert await raw(slack, headers={"authorization": header}) == {"ok": False, "error": error}


async def test_a_method_that_slack_does_not_have_is_unknown() -> None:
    async with served() as slack:
        assert await slack.refused("chat.whisper") == "unknown_method"


@pytest.mark.parametrize(
    ("error", "content_type", "body"),
    [
        ("invalid_arg_name", "application/json", b'{"files[0]": "F1"}'),
        ("invalid_charset", "application/json; charset=utf-16", b"{}"),
        ("invalid_form_data", "application/x-www-form-urlencoded", b"channel"),
        ("invalid_json", "application/json", b"{"),
        ("invalid_post_type", "text/html", b"{}"),
        ("json_not_object", "application/json", b"[]"),
        ("missing_post_type", "", b"{}"),
    ],
)
async def test_a_body_that_slack_could_not_read_is_refused(error: str, content_type: str, body: bytes) -> None:
    async with served() as slack:
        answer = await raw(slack, headers={"content-type": content_type}, content=body)
        assert answer == {"ok": False, "error": error}


async def test_a_rate_limit_says_when_to_try_again_and_takes_no_effect() -> None:
    async with served() as slack:
        channel = slack.wrote().channel
        slack.api.faults.order(Fault("chat.postMessage", error="ratelimited", retry_after=30))
        with pytest.raises(SlackApiError) as limited:
            await slack.call("chat.postMessage", channel=channel, text="hi")
        assert (limited.value.response.status_code, limited.value.response.headers["retry-after"]) == (429, "30")
        assert len(slack.workspace.messages) == 1
        assert (await slack.call("chat.postMessage", channel=channel, text="hi"))["ok"]
        assert [call.error for call in slack.api.calls] == ["ratelimited", None]


async def test_a_fault_happens_as_often_as_it_was_ordered_and_to_its_method_alone() -> None:
    async with served() as slack:
        slack.api.faults.order(Fault("users.info", error="fatal_error", times=2))
        assert (await slack.call("auth.test"))["ok"]
        for _ in range(2):
            assert await slack.refused("users.info", user=slack.workspace.bot.id) == "fatal_error"
        assert (await slack.call("users.info", user=slack.workspace.bot.id))["ok"]
        assert slack.api.faults.unused() == ()


@pytest.mark.parametrize(("moment", "messages", "error"), [("before", 1, "connection_lost"), ("after", 2, None)])
async def test_a_connection_is_cut_before_a_call_takes_effect_or_after(
    moment: Any, messages: int, error: str | None
) -> None:
    async with served() as slack:
        channel = slack.wrote().channel
        slack.api.faults.order(Fault("chat.postMessage", drop=moment))
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            await slack.call("chat.postMessage", channel=channel, text="hi")
        assert len(slack.workspace.messages) == messages
        assert [call.error for call in slack.api.calls] == [error]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("chat.post", error="fatal_error"), "no method 'chat.post'"),
        (Fault("chat.update", error="fatal_error", times=0), "0 times is none"),
        (Fault("chat.update"), "an error of Slack's, or a connection"),
        (Fault("chat.update", error="fatal_error", drop="after"), "an error of Slack's, or a connection"),
        (Fault("chat.update", error="ratelimited"), "after how many seconds"),
        (Fault("chat.update", error="fatal_error", retry_after=3), "after how many seconds"),
        (Fault("chat.update", error="ratelimited", retry_after=0), "not 0"),
    ],
)
async def test_a_fault_that_slack_would_not_have_is_not_ordered(fault: Fault, told: str) -> None:
    async with served() as slack:
        with pytest.raises(ValueError, match=told):
            slack.api.faults.order(fault)


class Looks:
    """An onlooker that holds a message until it is told to let go."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.post: asyncio.Future[SlackPost] = asyncio.get_running_loop().create_future()
        self.released = asyncio.Event()

    async def posted(self, post: SlackPost) -> None:
        self.heard.append("posted")
        self.post.set_result(post)
        await self.released.wait()

    def failed_request(self) -> None:
        self.heard.append("failed")


async def test_the_answer_to_a_message_waits_for_the_onlooker_and_the_message_stands_already() -> None:
    async with served() as slack:
        slack.api.onlooker = looks = Looks()
        asked = slack.wrote()
        where = {"channel": asked.channel, "thread_ts": asked.ts}
        posting = asyncio.ensure_future(slack.call("chat.postMessage", text="hi", **where))
        post = await looks.post
        assert (post.thread, post.text, post.member) == (asked.thread, "hi", None)
        assert len(slack.workspace.messages) == 2 and not posting.done()
        looks.released.set()
        assert (await posting)["ts"] == post.ts
        assert looks.heard == ["posted"]


async def test_the_onlooker_hears_of_failures_that_pass_and_of_no_others() -> None:
    async with served() as slack:
        slack.api.onlooker = looks = Looks()
        await slack.refused("users.info", user="U0NOBODY")
        assert looks.heard == []
        slack.api.faults.order(Fault("auth.test", error="ratelimited", retry_after=1))
        await slack.refused("auth.test")
        assert looks.heard == ["failed"]
        slack.api.faults.order(Fault("auth.test", drop="before"))
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            await slack.call("auth.test")
        assert looks.heard == ["failed", "failed"]


async def test_a_call_is_kept_with_its_arguments_and_the_thread_that_it_is_about() -> None:
    async with served() as slack:
        asked = slack.wrote()
        reply = slack.wrote("more", thread=asked.thread)
        await slack.call("reactions.add", channel=asked.channel, timestamp=reply.ts, name="eyes")
        await slack.call("chat.postMessage", channel=asked.channel, text="hi")
        reacted, posted = slack.api.calls
        assert (reacted.thread, reacted.args["name"]) == (asked.thread, "eyes")
        assert (posted.thread, posted.args) == (None, {"channel": asked.channel, "text": "hi"})


async def test_every_method_is_one_that_a_case_may_name() -> None:
    assert tuple(METHODS) == SLACK_METHODS
