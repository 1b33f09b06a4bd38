"""The stand-in for Slack sends what Slack sends: events in its shapes, with a signature that its library accepts."""

from __future__ import annotations

import json

from slack_sdk.signature import Clock, SignatureVerifier
from workspaces import START, served


class Now(Clock):
    """The trial's clock, for Slack's library."""

    def now(self) -> float:
        return START.timestamp()


async def test_slacks_library_accepts_the_signature_and_no_other() -> None:
    async with served() as slack:
        _, (event,) = slack.people.says("morgan", "hi – ünïcode")
        sent = slack.events.request(event)
        good = SignatureVerifier(slack.api.signing_secret, clock=Now())
        assert good.is_valid_request(sent.body, dict(sent.headers))
        assert not good.is_valid_request(sent.body + b" ", dict(sent.headers))
        assert not SignatureVerifier("other", clock=Now()).is_valid_request(sent.body, dict(sent.headers))
        assert json.loads(sent.body) == event


async def test_a_mention_in_a_channel_is_told_of_twice_with_one_timestamp() -> None:
    async with served() as slack:
        message, (mention, plain) = slack.people.says("morgan", "what is due?", mention=True)
        bot = slack.workspace.bot.id
        assert [event["event"]["type"] for event in (mention, plain)] == ["app_mention", "message"]
        assert {event["event"]["ts"] for event in (mention, plain)} == {message.ts}
        assert {event["event"]["text"] for event in (mention, plain)} == {f"<@{bot}> what is due?"}
        assert mention["event_id"] != plain["event_id"]
        assert plain["event"]["channel_type"] == "channel"
        assert "channel_type" not in mention["event"]
        for event in (mention, plain):
            assert (event["type"], event["team_id"]) == ("event_callback", slack.workspace.team_id)
            assert event["authorizations"][0]["user_id"] == bot


async def test_a_mention_in_a_direct_conversation_is_one_event() -> None:
    async with served() as slack:
        _, events = slack.people.says("morgan", "@agent hi", channel="direct")
        assert [event["event"]["channel_type"] for event in events] == ["im"]


async def test_a_message_in_a_thread_names_the_thread_and_who_began_it() -> None:
    async with served() as slack:
        first = slack.wrote(channel="private")
        _, (event,) = slack.people.says("riley", "and me", thread=first.thread)
        told = event["event"]
        assert (told["thread_ts"], told["parent_user_id"], told["channel_type"]) == (
            first.ts,
            first.author.id,
            "group",
        )
        assert told["user"] == slack.workspace.person("riley").id != first.author.id


async def test_what_a_person_types_is_sent_as_slack_writes_it() -> None:
    async with served() as slack:
        text = "1 < 2 & @riley, @here: see https://example.com/a?b=1&c=2 (not a@riley)"
        _, (event,) = slack.people.says("morgan", text)
        riley = slack.workspace.person("riley").id
        assert event["event"]["text"] == (
            f"1 &lt; 2 &amp; <@{riley}>, <!here>: see <https://example.com/a?b=1&amp;c=2> (not a@riley)"
        )


async def test_a_file_is_told_of_with_its_name_type_and_size() -> None:
    async with served() as slack:
        _, (event,) = slack.people.says("morgan", "the plan", files=[("plan.pdf", "application/pdf", 12_288)])
        (file,) = event["event"]["files"]
        assert event["event"]["subtype"] == "file_share"
        assert (file["name"], file["mimetype"], file["size"], file["filetype"]) == (
            "plan.pdf",
            "application/pdf",
            12_288,
            "pdf",
        )


async def test_an_edit_tells_both_texts_and_keeps_the_mention() -> None:
    async with served() as slack:
        message, _ = slack.people.says("morgan", "now", mention=True)
        (event,) = slack.people.edits("morgan", "later", message.thread)
        told, bot = event["event"], slack.workspace.bot.id
        assert (told["type"], told["subtype"], told["channel"]) == ("message", "message_changed", message.channel)
        assert (told["message"]["ts"], told["message"]["text"]) == (message.ts, f"<@{bot}> later")
        assert told["previous_message"]["text"] == f"<@{bot}> now"
        assert told["ts"] > message.ts and "edited" in told["message"]


async def test_a_deletion_tells_what_is_gone() -> None:
    async with served() as slack:
        message, _ = slack.people.says("morgan", "oh")
        (event,) = slack.people.deletes("morgan", message.thread)
        told = event["event"]
        assert (told["subtype"], told["deleted_ts"]) == ("message_deleted", message.ts)
        assert told["previous_message"]["text"] == "oh"
        assert slack.workspace.messages == {}


async def test_another_bot_is_told_of_as_a_bot() -> None:
    async with served() as slack:
        first = slack.wrote()
        (event,) = slack.people.bot_says("@agent the build is red", first.thread)
        told = event["event"]
        assert (told["type"], told["bot_id"]) == ("message", slack.workspace.other_bot.bot_id)
        assert told["thread_ts"] == first.ts


async def test_a_thread_that_a_person_opens_with_the_agent_begins_without_a_word() -> None:
    async with served() as slack:
        thread, (event,) = slack.people.opens("morgan")
        about = event["event"]["assistant_thread"]
        assert (event["event"]["type"], about["channel_id"], about["thread_ts"]) == (
            "assistant_thread_started",
            thread.channel,
            thread.ts,
        )
        _, (said,) = slack.people.says("morgan", "hi", thread=thread)
        assert (said["event"]["thread_ts"], said["event"]["channel_type"]) == (thread.ts, "im")


async def test_an_event_that_is_sent_again_says_so_and_is_the_same() -> None:
    async with served() as slack:
        _, (event,) = slack.people.says("morgan", "hi")
        first, again = slack.events.request(event), slack.events.request(event, retry=1)
        assert first.body == again.body
        assert "x-slack-retry-num" not in first.headers
        assert again.headers["x-slack-retry-num"] == "1"


async def test_every_trial_has_the_same_workspace() -> None:
    async with served() as one, served() as other:
        assert one.wrote().thread == other.wrote().thread
        assert one.people.says("riley", "x")[1] == other.people.says("riley", "x")[1]
        assert one.api.bot_token == other.api.bot_token
