"""The stand-in for Slack lets an agent read threads, look people up, react, and say what it does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from workspaces import served


async def test_a_long_thread_is_read_page_by_page() -> None:
    async with served() as slack:
        asked = slack.wrote("0")
        for number in range(1, 5):
            slack.wrote(str(number), thread=asked.thread)
        slack.wrote("somewhere else")
        pages = []
        cursor = None
        while cursor != "":
            where: dict[str, Any] = {"channel": asked.channel, "ts": asked.ts, "limit": 2}
            page = await asyncio.to_thread(slack.client.conversations_replies, cursor=cursor, **where)
            pages.append([message["text"] for message in page["messages"]])
            cursor = (page.get("response_metadata") or {}).get("next_cursor", "")
            assert page["has_more"] is bool(cursor)
        assert pages == [["0", "1"], ["2", "3"], ["4"]]


@pytest.mark.parametrize(("inclusive", "texts"), [(False, ["1"]), (True, ["0", "1", "2"])])
async def test_a_thread_is_read_between_two_timestamps(inclusive: bool, texts: list[str]) -> None:
    async with served() as slack:
        asked = slack.wrote("0")
        last = [slack.wrote(text, thread=asked.thread) for text in ("1", "2")][-1]
        where: dict[str, Any] = {"channel": asked.channel, "ts": asked.ts, "oldest": asked.ts, "latest": last.ts}
        page = await asyncio.to_thread(slack.client.conversations_replies, inclusive=inclusive, **where)
        assert [message["text"] for message in page["messages"]] == texts


REFUSED_READS = {
    "channel_not_found": {"channel": "C0NOWHERE"},
    "invalid_arguments": {"ts": None},
    "invalid_cursor": {"cursor": "later"},
    "invalid_limit": {"limit": 1001},
    "invalid_ts_latest": {"latest": "now"},
    "invalid_ts_oldest": {"oldest": "then"},
    "thread_not_found": {"ts": "1894708800.999999"},
}


@pytest.mark.parametrize(("error", "change"), REFUSED_READS.items())
async def test_a_thread_that_slack_would_not_show_is_not_shown(error: str, change: dict[str, Any]) -> None:
    async with served() as slack:
        asked = slack.wrote()
        arguments = {"channel": asked.channel, "ts": asked.ts, **change}
        assert await slack.refused("conversations.replies", **arguments) == error


async def test_a_cursor_of_another_list_is_refused() -> None:
    async with served() as slack:
        asked = slack.wrote()
        arguments = {"channel": asked.channel, "ts": asked.ts, "cursor": "dXNlcjpVMDYxTkZUVDI="}
        assert await slack.refused("conversations.replies", **arguments) == "invalid_cursor"


@pytest.mark.parametrize(("kind", "error"), [("public", "not_in_channel"), ("private", "channel_not_found")])
async def test_an_agent_reads_no_channel_that_it_is_not_in(kind: Any, error: str) -> None:
    async with served() as slack:
        asked = slack.wrote(channel=kind)
        slack.workspace.channels[asked.channel].members.discard(slack.workspace.bot.id)
        assert await slack.refused("conversations.replies", channel=asked.channel, ts=asked.ts) == error


async def test_a_direct_conversation_is_opened_once() -> None:
    async with served() as slack:
        morgan = slack.workspace.person("morgan")
        first = await asyncio.to_thread(slack.client.conversations_open, users=[morgan.id])
        again = await asyncio.to_thread(slack.client.conversations_open, users=morgan.id, return_im=True)
        channel = first["channel"]["id"]
        assert channel.startswith("D")
        assert (first["already_open"], again["already_open"]) == (False, True)
        assert again["channel"] == {"id": channel, "is_im": True, "user": morgan.id}
        assert (await slack.call("conversations.open", channel=channel))["channel"]["id"] == channel


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        ("channel_not_found", {"channel": "D0NOWHERE"}),
        ("invalid_arguments", {"users": "U0ONE,U0TWO"}),
        ("method_not_supported_for_channel_type", {"channel": "general"}),
        ("too_many_users", {"users": ",".join(f"U{number}" for number in range(9))}),
        ("user_not_found", {"users": "U0NOBODY"}),
        ("users_list_not_supplied", {}),
    ],
)
async def test_a_direct_conversation_that_slack_would_not_open_is_not_opened(
    error: str, arguments: dict[str, Any]
) -> None:
    async with served() as slack:
        slack.wrote()
        assert await slack.refused("conversations.open", **arguments) == error


async def test_bots_do_not_talk_to_bots() -> None:
    async with served() as slack:
        error = await slack.refused("conversations.open", users=slack.workspace.other_bot.id)
        assert error == "cannot_dm_bot"


async def test_people_and_the_agent_itself_are_looked_up() -> None:
    async with served() as slack:
        morgan = slack.workspace.person("morgan")
        found = await asyncio.to_thread(slack.client.users_info, user=morgan.id)
        assert (found["user"]["name"], found["user"]["profile"]["display_name"]) == ("morgan", "Morgan")
        itself = await asyncio.to_thread(slack.client.auth_test)
        assert (itself["user_id"], itself["team_id"]) == (slack.workspace.bot.id, slack.workspace.team_id)
        assert await slack.refused("users.info", user="U0NOBODY") == "user_not_found"
        assert await slack.refused("users.info") == "invalid_arguments"


async def test_a_reaction_is_added_once_and_taken_back_once() -> None:
    async with served() as slack:
        asked = slack.wrote()
        what = {"channel": asked.channel, "timestamp": asked.ts, "name": "eyes"}
        await asyncio.to_thread(slack.client.reactions_add, **what)
        assert asked.reactions == {"eyes": [slack.workspace.bot.id]}
        assert await slack.refused("reactions.add", **what) == "already_reacted"
        await asyncio.to_thread(slack.client.reactions_remove, **what)
        assert asked.reactions == {}
        assert await slack.refused("reactions.remove", **what) == "no_reaction"


@pytest.mark.parametrize(("name", "error"), [("wave::skin-tone-3", None), ("wave::skin-tone-7", "invalid_name")])
async def test_a_reaction_may_have_a_tone_of_skin(name: str, error: str | None) -> None:
    async with served() as slack:
        asked = slack.wrote()
        what = {"channel": asked.channel, "timestamp": asked.ts, "name": name}
        if error is not None:
            assert await slack.refused("reactions.add", **what) == error
        else:
            assert (await slack.call("reactions.add", **what))["ok"]
            assert list(asked.reactions) == [name]


REFUSED_REACTIONS = {
    "bad_timestamp": {"timestamp": "now"},
    "channel_not_found": {"channel": "C0NOWHERE"},
    "invalid_arguments": {"name": None},
    "invalid_name": {"name": ":eyes:"},
    "message_not_found": {"timestamp": "1894708800.999999"},
    "no_item_specified": {"timestamp": None},
}


@pytest.mark.parametrize("method", ["reactions.add", "reactions.remove"])
@pytest.mark.parametrize(("error", "change"), REFUSED_REACTIONS.items())
async def test_a_reaction_that_slack_would_refuse_is_refused(method: str, error: str, change: dict[str, Any]) -> None:
    async with served() as slack:
        asked = slack.wrote()
        arguments = {"channel": asked.channel, "timestamp": asked.ts, "name": "eyes", **change}
        assert await slack.refused(method, **arguments) == error


async def test_there_are_no_reactions_in_an_archived_channel_and_not_too_many_anywhere() -> None:
    async with served() as slack:
        asked = slack.wrote()
        what = {"channel": asked.channel, "timestamp": asked.ts}
        asked.reactions.update({str(number): [slack.workspace.bot.id] for number in range(23)})
        assert await slack.refused("reactions.add", name="eyes", **what) == "too_many_reactions"
        slack.workspace.channels[asked.channel].archived = True
        assert await slack.refused("reactions.add", name="eyes", **what) == "is_archived"


async def test_a_status_stands_until_it_is_cleared_or_the_agent_speaks() -> None:
    async with served() as slack:
        asked = slack.wrote(channel="direct")
        where: dict[str, Any] = {"channel_id": asked.channel, "thread_ts": asked.ts}
        for status in ("is thinking…", ""):
            await asyncio.to_thread(slack.client.assistant_threads_setStatus, status=status, **where)
            assert slack.workspace.statuses.get(asked.thread, "") == status
        await slack.call("assistant.threads.setStatus", status="is thinking…", **where)
        await slack.call("chat.postMessage", channel=asked.channel, thread_ts=asked.ts, text="done")
        assert slack.workspace.statuses == {}


async def test_a_thread_with_the_agent_gets_a_title() -> None:
    async with served() as slack:
        asked = slack.wrote(channel="direct")
        await asyncio.to_thread(
            slack.client.assistant_threads_setTitle, channel_id=asked.channel, thread_ts=asked.ts, title="Budget"
        )
        assert slack.workspace.titles == {asked.thread: "Budget"}


@pytest.mark.parametrize(("method", "word"), [("setStatus", "status"), ("setTitle", "title")])
@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("channel_not_found", {"channel_id": "D0NOWHERE"}),
        ("invalid_arguments", {"thread_ts": None}),
        ("invalid_thread_ts", {"thread_ts": "1894708800.999999"}),
    ],
)
async def test_what_slack_would_not_write_over_a_thread_is_refused(
    method: str, word: str, error: str, change: dict[str, Any]
) -> None:
    async with served() as slack:
        asked = slack.wrote(channel="direct")
        arguments = {"channel_id": asked.channel, "thread_ts": asked.ts, word: "x", **change}
        assert await slack.refused(f"assistant.threads.{method}", **arguments) == error


async def test_a_thread_of_a_channel_has_no_title_and_a_status_no_face() -> None:
    async with served() as slack:
        asked = slack.wrote()
        where = {"channel_id": asked.channel, "thread_ts": asked.ts}
        assert await slack.refused("assistant.threads.setTitle", title="x", **where) == "channel_not_found"
        for more in ({"username": "Bo"}, {"loading_messages": ["…"] * 11}):
            assert (
                await slack.refused("assistant.threads.setStatus", status="x", **more, **where) == "invalid_arguments"
            )
