"""The stand-in for Slack takes messages and refuses those that Slack would refuse."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from workspaces import served


async def test_a_message_is_posted_in_a_thread_and_read_there() -> None:
    async with served() as slack:
        asked = slack.wrote("what is due?")
        metadata = {"event_type": "reply", "event_payload": {"part": 1}}
        answer = await asyncio.to_thread(
            slack.client.chat_postMessage,
            channel=asked.channel, thread_ts=asked.ts, text="The budget.", metadata=metadata,
        )  # fmt: skip
        assert (answer["channel"], answer["message"]["text"]) == (asked.channel, "The budget.")
        assert answer["ts"] > asked.ts

        read = await asyncio.to_thread(
            slack.client.conversations_replies, channel=asked.channel, ts=asked.ts, include_all_metadata=True
        )
        first, second = read["messages"]
        assert (first["text"], first["reply_count"], first["user"]) == ("what is due?", 1, asked.author.id)
        assert (second["text"], second["thread_ts"], second["metadata"]) == ("The budget.", asked.ts, metadata)
        assert second["bot_id"] == slack.workspace.bot.bot_id

        bare = await slack.form("conversations.replies", channel=asked.channel, ts=asked.ts)
        assert "metadata" not in bare["messages"][1]


async def test_what_answers_a_reply_belongs_to_the_thread_of_that_reply() -> None:
    async with served() as slack:
        asked = slack.wrote()
        reply = await slack.call("chat.postMessage", channel=asked.channel, thread_ts=asked.ts, text="one")
        again = await slack.call("chat.postMessage", channel=asked.channel, thread_ts=reply["ts"], text="two")
        assert again["message"]["thread_ts"] == asked.ts


async def test_timestamps_grow_within_the_second_and_with_the_clock() -> None:
    async with served() as slack:
        first, second = slack.wrote(), slack.wrote()
        slack.clock.advance(60)
        third = slack.wrote()
    assert [first.ts, second.ts, third.ts] == ["1894708800.000001", "1894708800.000002", "1894708860.000003"]


@pytest.mark.parametrize("name", ["general", "#general"])
async def test_a_channel_is_found_by_its_name_too(name: str) -> None:
    async with served() as slack:
        asked = slack.wrote()
        assert (await slack.call("chat.postMessage", channel=name, text="hi"))["channel"] == asked.channel


async def test_a_person_is_written_to_by_the_id_of_the_person() -> None:
    async with served() as slack:
        morgan = slack.workspace.person("morgan")
        answer = await slack.call("chat.postMessage", channel=morgan.id, text="hi")
        assert slack.workspace.channels[answer["channel"]].kind == "direct"


REFUSED_POSTS = {
    "channel_not_found": {"channel": "C0NOWHERE"},
    "invalid_arguments": {"channel": None},
    "no_text": {"text": " \n"},
    "thread_not_found": {"thread_ts": "1894708800.999999"},
    "invalid_thread_ts": {"thread_ts": "yesterday"},
}


@pytest.mark.parametrize(("error", "change"), REFUSED_POSTS.items())
async def test_a_message_that_slack_would_refuse_is_refused(error: str, change: dict[str, Any]) -> None:
    async with served() as slack:
        arguments = {"channel": slack.wrote().channel, "text": "hi", **change}
        assert await slack.refused("chat.postMessage", **arguments) == error
        assert len(slack.workspace.messages) == 1


@pytest.mark.parametrize("word", ["attachments", "blocks", "markdown_text", "reply_broadcast"])
async def test_what_the_stand_in_does_not_read_is_refused_and_named(word: str) -> None:
    async with served() as slack:
        arguments = {"channel": slack.wrote().channel, "text": "hi", word: "yes"}
        with pytest.raises(Exception, match=f"does not read: {word}"):
            await slack.call("chat.postMessage", **arguments)


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.postEphemeral"])
@pytest.mark.parametrize(("kind", "error"), [("public", "not_in_channel"), ("private", "channel_not_found")])
async def test_an_agent_that_is_not_in_a_channel_says_nothing_there(method: str, kind: Any, error: str) -> None:
    async with served() as slack:
        asked = slack.wrote(channel=kind)
        slack.workspace.channels[asked.channel].members.discard(slack.workspace.bot.id)
        assert await slack.refused(method, channel=asked.channel, text="hi", user=asked.author.id) == error


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.postEphemeral"])
async def test_nobody_says_anything_in_an_archived_channel(method: str) -> None:
    async with served() as slack:
        asked = slack.wrote()
        slack.workspace.channels[asked.channel].archived = True
        assert await slack.refused(method, channel=asked.channel, text="hi", user=asked.author.id) == "is_archived"


async def test_a_text_that_is_too_long_is_cut_off_with_a_warning() -> None:
    async with served() as slack:
        channel = slack.wrote().channel
        fits = await slack.call("chat.postMessage", channel=channel, text="a" * 40_000)
        cut = await slack.call("chat.postMessage", channel=channel, text="a" * 40_001)
        assert len(fits["message"]["text"]) == len(cut["message"]["text"]) == 40_000
        assert "response_metadata" not in fits
        assert cut["response_metadata"]["warnings"] == ["message_truncated"]


@pytest.mark.parametrize("metadata", ["text", "[]", '{"event_type": "a"}', '{"event_payload": {}}', {"event_type": 1}])
async def test_metadata_of_another_shape_is_refused(metadata: Any) -> None:
    async with served() as slack:
        arguments = {"channel": slack.wrote().channel, "text": "hi", "metadata": metadata}
        assert await slack.refused("chat.postMessage", **arguments) == "invalid_metadata_format"


async def test_metadata_with_a_type_that_slack_does_not_take_is_left_out_with_a_warning() -> None:
    async with served() as slack:
        metadata = {"event_type": "my.reply", "event_payload": {}}
        channel = slack.wrote().channel
        answer = await slack.call("chat.postMessage", channel=channel, text="hi", metadata=metadata)
        assert "metadata" not in answer["message"]
        assert answer["response_metadata"]["warnings"] == ["invalid_metadata_schema"]


async def test_a_message_of_the_agents_own_is_changed_and_keeps_its_metadata() -> None:
    async with served() as slack:
        channel = slack.wrote().channel
        metadata = {"event_type": "reply", "event_payload": {}}
        posted = await slack.call("chat.postMessage", channel=channel, text="on", metadata=metadata)
        changed = await slack.call("chat.update", channel=channel, ts=posted["ts"], text="two")
        assert (changed["text"], changed["message"]["metadata"]) == ("two", metadata)
        assert "edited" in changed["message"]
        gone = await slack.call("chat.update", channel=channel, ts=posted["ts"], text="two", metadata={})
        assert "metadata" not in gone["message"]


REFUSED_UPDATES = {
    "channel_not_found": {"channel": "C0NOWHERE"},
    "invalid_arguments": {"ts": None},
    "message_not_found": {"ts": "1894708800.999999"},
    "msg_too_long": {"text": "a" * 40_001},
    "no_text": {"text": ""},
}


@pytest.mark.parametrize(("error", "change"), REFUSED_UPDATES.items())
async def test_a_change_that_slack_would_refuse_is_refused(error: str, change: dict[str, Any]) -> None:
    async with served() as slack:
        channel = slack.wrote().channel
        posted = await slack.call("chat.postMessage", channel=channel, text="one")
        arguments = {"channel": channel, "ts": posted["ts"], "text": "two", **change}
        assert await slack.refused("chat.update", **arguments) == error


async def test_the_message_of_somebody_else_and_of_an_archived_channel_stays_as_it_is() -> None:
    async with served() as slack:
        asked = slack.wrote()
        own = await slack.call("chat.postMessage", channel=asked.channel, text="one")
        assert await slack.refused("chat.update", channel=asked.channel, ts=asked.ts, text="x") == "cant_update_message"
        slack.workspace.channels[asked.channel].archived = True
        assert await slack.refused("chat.update", channel=asked.channel, ts=own["ts"], text="x") == "is_inactive"


async def test_a_word_to_one_person_is_no_message_of_the_channel() -> None:
    async with served() as slack:
        asked = slack.wrote()
        answer = await asyncio.to_thread(
            slack.client.chat_postEphemeral, channel=asked.channel, user=asked.author.id, text="sign in"
        )
        assert answer["message_ts"] > asked.ts
        assert list(slack.workspace.messages.values()) == [asked]


REFUSED_WHISPERS = {
    "channel_not_found": {"channel": "C0NOWHERE"},
    "invalid_arguments": {"user": None},
    "no_text": {"text": ""},
    "thread_not_found": {"thread_ts": "1894708800.999999"},
    "user_not_in_channel": {"user": "U0NOBODY"},
}


@pytest.mark.parametrize(("error", "change"), REFUSED_WHISPERS.items())
async def test_a_word_to_one_person_that_slack_would_refuse_is_refused(error: str, change: dict[str, Any]) -> None:
    async with served() as slack:
        asked = slack.wrote()
        arguments = {"channel": asked.channel, "user": asked.author.id, "text": "hi", **change}
        assert await slack.refused("chat.postEphemeral", **arguments) == error


async def test_a_person_who_is_not_in_the_channel_gets_no_word_there() -> None:
    async with served() as slack:
        asked, riley = slack.wrote(), slack.workspace.person("riley")
        error = await slack.refused("chat.postEphemeral", channel=asked.channel, user=riley.id, text="hi")
        assert error == "user_not_in_channel"
