"""What Slack sends, read: what people did, and nothing of what machines did. No body breaks the reading."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_bodies import (
    ANYTHING,
    BOT,
    CHANNEL,
    DIRECT,
    FILE,
    LATER,
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
    direct,
    encoded,
    envelope,
    message,
    mutated,
    url_verification,
)

from bosun.slack.channel import SlackThread
from bosun.slack.events import (
    AssistantThreadStarted,
    EventCallback,
    Ignored,
    MessageArrived,
    MessageChanged,
    MessageDeleted,
    SlackBodyInvalid,
    SlackEvent,
    UrlVerification,
    decode,
)
from bosun.slack.reading import SlackFile, mentions

HERE, THREAD = SlackThread(CHANNEL, TS), SlackThread(CHANNEL, ROOT)


def event_of(event: Body, **more: object) -> SlackEvent:
    """Return what an event is read as."""
    said = decode(encoded(envelope(event, **more)))
    assert isinstance(said, EventCallback)
    assert (said.event_id, said.team_id) == ("Ev0001", TEAM)
    return said.event


def arrived(event: Body) -> MessageArrived:
    """Return the message that an event is."""
    found = event_of(event)
    assert isinstance(found, MessageArrived), found
    return found


# --- what people did


def test_the_question_for_the_address() -> None:
    """It has no envelope."""
    body = url_verification()
    assert decode(encoded(body)) == UrlVerification(body["challenge"])


def test_a_message_in_a_channel_begins_its_own_thread() -> None:
    """Its `ts` names the thread."""
    assert arrived(message()) == MessageArrived(
        thread=HERE, ts=TS, user_id=PERSON, text="Hello", mentions_bot=False, direct=False, bot_user_id=BOT
    )


def test_a_message_in_a_thread_belongs_to_it() -> None:
    """The message that began the thread says so itself as soon as it has answers, and is not in it."""
    answer = arrived(message(thread_ts=ROOT))
    assert (answer.thread, answer.in_thread) == (THREAD, True)
    first = arrived(message(thread_ts=TS))
    assert (first.thread, first.in_thread) == (HERE, False)


def test_a_mention_is_one_message_in_two_events() -> None:
    """Both are the same in everything."""
    text = f"<@{BOT}> hello"
    assert arrived(app_mention(text)) == arrived(message(text))
    assert arrived(message(text)).mentions_bot


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        (f"hello <@{BOT}>", True),
        (f"hello <@{BOT}|bosun>", True),
        (f"hello <@{OTHER}>", False),
        (f"hello &lt;@{BOT}&gt;", False),
        (f"hello @{BOT} bosun", False),
        (f"hello <@{BOT}X>", False),
    ],
)
def test_who_is_mentioned(text: str, mentioned: bool) -> None:
    """What a person typed letter by letter mentions nobody."""
    assert arrived(message(text)).mentions_bot is mentioned


def test_bosuns_own_user_is_the_envelopes_and_else_the_options() -> None:
    """A person's authorization is not Bosun's."""
    person = [{"user_id": PERSON, "is_bot": False}]
    body = encoded(envelope(message(f"<@{BOT}> hi"), authorizations=person))
    unknown, known = decode(body), decode(body, bot_user_id=BOT)
    assert isinstance(unknown, EventCallback) and isinstance(unknown.event, MessageArrived)
    assert not unknown.event.mentions_bot
    assert isinstance(known, EventCallback) and isinstance(known.event, MessageArrived)
    assert known.event.mentions_bot


def test_a_direct_message_is_direct() -> None:
    """It need not mention anybody."""
    found = arrived(direct())
    assert (found.thread, found.direct) == (SlackThread(DIRECT, TS), True)
    assert not arrived(message(channel="G0GROUP", channel_type="mpim")).direct


def test_files_come_with_their_message() -> None:
    """Those that are gone do not, and what is no file is none."""
    gone = {"id": "F0002", "mode": "tombstone"}
    foreign = {"id": "F0003", "file_access": "check_file_info"}
    found = arrived(message("", subtype="file_share", files=[FILE, gone, foreign, "x", {}, {"id": 7}]))
    assert found.files == (SlackFile("F0001", "plan.pdf", "application/pdf", 12_000), SlackFile("F0003", "F0003"))


def test_a_message_without_text_is_one_without_words() -> None:
    """A file alone."""
    body = message(subtype="file_share", files=[FILE])
    del body["text"]
    assert arrived(body).text == ""


def test_what_no_store_can_hold_is_left_out() -> None:
    """NUL and half a character."""
    assert arrived(message("a\0b\ud83dc")).text == "ab?c"


@pytest.mark.parametrize("subtype", ["me_message", "thread_broadcast", "file_share"])
def test_other_ways_to_speak(subtype: str) -> None:
    """They are a person's words."""
    assert arrived(message(subtype=subtype)).user_id == PERSON


def test_new_words_of_a_message() -> None:
    """Named by the message's own `ts`; the change's own one tells a newer from an older."""
    assert event_of(changed()) == MessageChanged(
        thread=HERE, ts=TS, text="Hello again", edited_ts=LATER, bot_user_id=BOT
    )
    in_thread = event_of(changed(thread_ts=ROOT))
    assert isinstance(in_thread, MessageChanged) and in_thread.thread == THREAD


def test_a_preview_is_no_change_of_words() -> None:
    """Slack calls it one."""
    assert isinstance(event_of(changed("Hello", "Hello")), Ignored)


def test_a_message_that_is_gone() -> None:
    """Also the one that began a thread, in whose place Slack leaves a stone."""
    assert event_of(deleted()) == MessageDeleted(thread=HERE, ts=TS)
    assert event_of(deleted(thread_ts=ROOT)) == MessageDeleted(thread=THREAD, ts=TS)
    unknown = deleted()
    del unknown["previous_message"]
    assert event_of(unknown) == MessageDeleted(thread=HERE, ts=TS)
    stone = changed()
    stone["message"] |= {
        "subtype": "tombstone",
        "user": "USLACKBOT",
        "text": "This message was deleted.",
        "thread_ts": TS,
    }
    assert event_of(stone) == MessageDeleted(thread=HERE, ts=TS)


def test_a_thread_with_bosun_is_opened() -> None:
    """Before anything is said."""
    assert event_of(assistant_started()) == AssistantThreadStarted(thread=SlackThread(DIRECT, ROOT), user_id=PERSON)


# --- what machines did

MACHINES: tuple[Body, ...] = (
    message(bot_id="B0001"),
    message(bot_profile={"id": "B0001"}),
    message(subtype="bot_message", bot_id="B0001"),
    message(subtype="bot_message", user=None),
    message(user=BOT),
    message(user="USLACKBOT"),
    message(user=None),
    app_mention(bot_id="B0001"),
    app_mention(user=BOT),
    direct(user=BOT),
    changed(bot_id="B0001"),
    changed(user=BOT),
    changed(subtype="bot_message"),
    changed(subtype="channel_join"),
    deleted(bot_id="B0001"),
    deleted(user=BOT),
    *(
        message(subtype=each)
        for each in ("channel_join", "channel_leave", "channel_topic", "message_replied", "new", 7)
    ),
    message(subtype=[]),
    {"type": "reaction_added", "user": PERSON},
    {"type": "team_join"},
    {"type": None},
    {},
)


@pytest.mark.parametrize("event", MACHINES)
def test_nobody_spoke(event: Body) -> None:
    """Bosun that answers itself would never stop."""
    found = event_of(event)
    assert isinstance(found, Ignored) and found.why


def test_what_slack_says_without_an_event_is_ignored() -> None:
    """Among it that there were too many."""
    assert isinstance(decode(encoded({"type": "app_rate_limited"})), Ignored)


# --- what is no event


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b"[]", "body"),
        (b'"text"', "body"),
        (b"\xff\xfe", "body"),
        (b"[" * 100_000, "body"),
        (b'{"type": 1' + b"0" * 5_000 + b"}", "body"),
        (b"{}", "type"),
        (b'{"type": 7}', "type"),
        (b'{"type": "url_verification"}', "challenge"),
        (b'{"type": "url_verification", "challenge": 7}', "challenge"),
        (encoded({"type": "event_callback", "team_id": TEAM, "event": {}}), "event_id"),
        (encoded(envelope(message(), event_id="Ev 1\n")), "event_id"),
        (encoded(envelope(message(), team_id=None)), "team_id"),
        (encoded(envelope(message(), team_id="T1:x")), "team_id"),
        (encoded({**envelope({}), "event": "x"}), "event"),
        (encoded(envelope(message(channel=None))), "event.channel"),
        (encoded(envelope(message(channel="C1:2"))), "event.channel"),
        (encoded(envelope(message(channel="C1\n"))), "event.channel"),
        (encoded(envelope(message(ts=1700000100.0002))), "event.ts"),
        (encoded(envelope(message(ts="x"))), "event.ts"),
        (encoded(envelope(message(ts="1.2\n"))), "event.ts"),
        (encoded(envelope(message(thread_ts="1:2"))), "event.thread_ts"),
        (encoded(envelope(message(user="u:1"))), "event.user"),
        (encoded(envelope(message(user=7))), "event.user"),
        (encoded(envelope(message() | {"text": ["x"]})), "event.text"),
        (encoded(envelope(changed(ts="x"))), "event.message.ts"),
        (encoded(envelope({**changed(), "message": None})), "event.message"),
        (encoded(envelope({**deleted(), "deleted_ts": None})), "event.deleted_ts"),
        (encoded(envelope({"type": "assistant_thread_started"})), "event.assistant_thread.channel_id"),
    ],
)
def test_what_is_wrong_is_named(body: bytes, field: str) -> None:
    """The field, and what is wrong with it."""
    with pytest.raises(SlackBodyInvalid) as caught:
        decode(body)
    assert field in dict(caught.value.fields)
    assert all(problem for _, problem in caught.value.fields)


# --- anything


def is_a_persons(said: Any, bot: str | None) -> bool:
    """Tell, in other words than the product's, whether a person wrote a message."""
    machine = said.get("bot_id") or said.get("bot_profile")
    known = said.get("subtype") in (None, "file_share", "me_message", "thread_broadcast")
    return not machine and known and isinstance(said.get("user"), str) and said["user"] not in (bot, "USLACKBOT")


def bot_in(body: Body) -> str | None:
    """Return Bosun's user as an envelope says it."""
    listed = body.get("authorizations")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and each.get("is_bot") is True and isinstance(each.get("user_id"), str):
            return str(each["user_id"])
    return None


@settings(max_examples=500, deadline=None)
@given(mutated())
def test_a_changed_body_is_read_rightly_or_refused(body: Body) -> None:
    """Nothing but `SlackBodyInvalid`, and never words that no person said, nor of another place."""
    sent = json.loads(encoded(body))
    try:
        said = decode(encoded(body))
    except SlackBodyInvalid as invalid:
        assert invalid.fields
        return
    if not isinstance(said, EventCallback):
        return
    event, raw, bot = said.event, sent["event"], bot_in(sent)
    match event:
        case MessageArrived():
            assert raw["type"] in ("message", "app_mention") and is_a_persons(raw, bot)
            assert (event.thread.channel, event.ts, event.user_id) == (raw["channel"], raw["ts"], raw["user"])
            assert event.thread.thread_ts == (raw.get("thread_ts") or raw["ts"])
            assert event.mentions_bot == (
                raw["type"] == "app_mention" or (bot is not None and bot in mentions(event.text))
            )
        case MessageChanged():
            assert raw["subtype"] == "message_changed" and is_a_persons(raw["message"], bot)
            assert (event.thread.channel, event.ts) == (raw["channel"], raw["message"]["ts"])
        case MessageDeleted():
            assert event.thread.channel == raw["channel"]
            assert event.ts == (raw["deleted_ts"] if raw["subtype"] == "message_deleted" else raw["message"]["ts"])
        case AssistantThreadStarted():
            assert raw["type"] == "assistant_thread_started"
        case Ignored():
            return
    assert SlackThread.of(event.thread.conversation_id) == event.thread


@settings(max_examples=500, deadline=None)
@given(
    st.binary(max_size=60)
    | ANYTHING.map(encoded)
    | st.sampled_from(REAL)
    .map(encoded)
    .flatmap(
        lambda body: st.tuples(st.integers(0, len(body) - 1), st.integers(0, 255)).map(
            lambda change: body[: change[0]] + bytes([change[1]]) + body[change[0] + 1 :]
        )
    )
)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    """Nothing but `SlackBodyInvalid`."""
    try:
        decode(body, bot_user_id=BOT)
    except SlackBodyInvalid as invalid:
        assert invalid.fields
