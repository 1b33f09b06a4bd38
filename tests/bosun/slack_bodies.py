"""Bodies of Slack's Events API, in the shapes that Slack documents, and in shapes that are nearly those."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

TEAM, BOT, PERSON, OTHER = "T0001", "U0BOSUN", "U0MORGAN", "U0EVE"
CHANNEL, DIRECT = "C0GENERAL", "D0MORGAN"
TS, LATER, ROOT = "1700000100.000200", "1700000200.000300", "1700000000.000100"

Body = dict[str, Any]


def envelope(event: Body, **more: object) -> Body:
    """Return an event in its envelope."""
    return {
        "token": "verification",
        "team_id": TEAM,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": "A0001",
        "event": event,
        "type": "event_callback",
        "event_id": "Ev0001",
        "event_time": 1_700_000_100,
        "authorizations": [
            {"enterprise_id": None, "team_id": TEAM, "user_id": BOT, "is_bot": True, "is_enterprise_install": False}
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-eyJldCI6Im1lc3NhZ2UifQ",
        **more,
    }


def message(text: str = "Hello", **more: object) -> Body:
    """Return a person's message in a channel."""
    return {
        "type": "message",
        "client_msg_id": "0d3e5b8c-0b7e-4f6e-8f4b-3f1c1f5f0a11",
        "user": PERSON,
        "text": text,
        "team": TEAM,
        "channel": CHANNEL,
        "channel_type": "channel",
        "ts": TS,
        "event_ts": TS,
        "blocks": [{"type": "rich_text", "block_id": "b", "elements": []}],
        **more,
    }


def app_mention(text: str = f"<@{BOT}> hello", **more: object) -> Body:
    """Return a mention of Bosun in a channel."""
    body = message(text, type="app_mention", **more)
    del body["channel_type"]
    return body


def direct(text: str = "Hello", **more: object) -> Body:
    """Return a direct message to Bosun."""
    return message(text, channel=DIRECT, channel_type="im", **more)


def changed(text: str = "Hello again", before: str = "Hello", **more: object) -> Body:
    """Return the change of a message."""
    edited = {"user": PERSON, "ts": LATER}
    return {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": CHANNEL,
        "channel_type": "channel",
        "ts": LATER,
        "event_ts": LATER,
        "message": {"type": "message", "user": PERSON, "text": text, "ts": TS, "edited": edited, **more},
        "previous_message": {"type": "message", "user": PERSON, "text": before, "ts": TS, **more},
    }


def deleted(**more: object) -> Body:
    """Return the deletion of a message."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": CHANNEL,
        "channel_type": "channel",
        "ts": LATER,
        "event_ts": LATER,
        "deleted_ts": TS,
        "previous_message": {"type": "message", "user": PERSON, "text": "Hello", "ts": TS, **more},
    }


def assistant_started() -> Body:
    """Return the opening of a thread with Bosun."""
    return {
        "type": "assistant_thread_started",
        "assistant_thread": {
            "user_id": PERSON,
            "context": {"channel_id": CHANNEL, "team_id": TEAM, "enterprise_id": None},
            "channel_id": DIRECT,
            "thread_ts": ROOT,
        },
        "event_ts": ROOT,
    }


def url_verification() -> Body:
    """Return the question whether the address is the app's."""
    challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
    return {"token": "verification", "challenge": challenge, "type": "url_verification"}


FILE: Body = {
    "id": "F0001",
    "created": 1_700_000_100,
    "name": "plan.pdf",
    "title": "Plan",
    "mimetype": "application/pdf",
    "filetype": "pdf",
    "size": 12_000,
    "mode": "hosted",
    "url_private": "https://files.slack.com/files-pri/T0001-F0001/plan.pdf",
}

REAL: tuple[Body, ...] = (
    url_verification(),
    envelope(message()),
    envelope(message(thread_ts=ROOT)),
    envelope(message(subtype="file_share", files=[FILE], upload=False)),
    envelope(message(subtype="thread_broadcast", thread_ts=ROOT, root={"text": "root", "ts": ROOT})),
    envelope(message(bot_id="B0001", app_id="A0002")),
    envelope(message(subtype="bot_message", bot_id="B0001", username="ci")),
    envelope(message(subtype="channel_join")),
    envelope(app_mention()),
    envelope(direct()),
    envelope(changed()),
    envelope(changed(subtype="tombstone")),
    envelope(deleted()),
    envelope(assistant_started()),
    {"type": "app_rate_limited", "token": "t", "team_id": TEAM, "minute_rate_limited": 1, "api_app_id": "A0001"},
)


def encoded(body: object) -> bytes:
    """Return a body as it travels."""
    return json.dumps(body).encode()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(
    (PERSON, BOT, OTHER, "USLACKBOT", CHANNEL, DIRECT, TS, ROOT, f"<@{BOT}>", "im", "", "C1:2", "event_callback")
) | st.sampled_from(
    ("message", "app_mention", "bot_message", "file_share", "message_changed", "message_deleted", "tombstone")
)
FIELDS = st.sampled_from(
    ("type", "subtype", "user", "bot_id", "bot_profile", "channel", "ts", "thread_ts", "text", "files", "message")
) | st.sampled_from(
    ("previous_message", "deleted_ts", "edited", "channel_type", "assistant_thread", "user_id", "authorizations")
)


def places_in(body: Body) -> list[tuple[Body, str]]:
    """Return every field of every object in a body."""
    found = [(body, name) for name in body]
    return found + [place for inner in body.values() if isinstance(inner, dict) for place in places_in(inner)]


@st.composite
def mutated(draw: st.DrawFn) -> Body:
    """A real body with up to four fields changed, taken away or added."""
    body = copy.deepcopy(draw(st.sampled_from(REAL)))
    for _ in range(draw(st.integers(0, 4))):
        where, name = draw(st.sampled_from(places_in(body) or [(body, "type")]))
        match draw(st.sampled_from(["change", "remove", "add"])):
            case "change":
                where[name] = draw(WORDS | ANYTHING)
            case "remove":
                where.pop(name, None)
            case _:
                where[draw(FIELDS)] = draw(WORDS | ANYTHING)
    return body
