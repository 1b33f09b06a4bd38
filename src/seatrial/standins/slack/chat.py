"""The methods of ``chat``: what the agent says."""

from __future__ import annotations

import re
from typing import Any

from seatrial.standins.slack.arguments import Arguments
from seatrial.standins.slack.data import Channel, Message
from seatrial.standins.slack.refusals import Refused
from seatrial.standins.slack.workspace import Workspace

LONGEST_TEXT = 40_000
"""Slack cuts a longer text of a new message off, and says so; it does not take one as an update."""

UNREAD = ("attachments", "blocks", "markdown_text", "reply_broadcast")
"""What Slack reads and the stand-in does not: an agent that says something by it has not said it here."""

_EVENT_TYPE = re.compile(r"[A-Za-z0-9_-]{1,255}")


def post_message(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Post in a channel or a thread."""
    arguments.check(("channel",), UNREAD)
    channel = where(workspace, arguments.needed("channel"))
    writable(workspace, channel)
    thread_ts = _thread(workspace, channel, arguments)
    text, warnings = _text(arguments)
    metadata, schema = _metadata(arguments)
    message = workspace.add(channel, workspace.bot, text, thread_ts=thread_ts, metadata=metadata)
    workspace.statuses.pop(message.thread, None)
    answer: dict[str, Any] = {"channel": channel.id, "ts": message.ts, "message": shown(workspace, message)}
    if warnings or schema:
        answer["response_metadata"] = {"warnings": [*warnings, *schema], "messages": _told(warnings)}
    return answer


def update(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Change what the agent has said. Metadata that is not given stays."""
    arguments.check(("channel", "ts"), UNREAD)
    channel = where(workspace, arguments.needed("channel"))
    message = workspace.messages.get((channel.id, arguments.needed("ts")))
    if message is None:
        raise Refused("message_not_found")
    if message.author.id != workspace.bot.id:
        raise Refused("cant_update_message")
    if channel.archived:
        raise Refused("is_inactive")
    text = arguments.text("text") or ""
    if not text.strip():
        raise Refused("no_text")
    if len(text) > LONGEST_TEXT:
        raise Refused("msg_too_long")
    if arguments.text("metadata") is not None:
        message.metadata = _metadata(arguments)[0]
    message.text, message.edited_at = text, workspace.stamp()
    return {"channel": channel.id, "ts": message.ts, "text": text, "message": shown(workspace, message)}


def post_ephemeral(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Say something to one person, who alone sees it. It is no message of the channel."""
    arguments.check(("channel", "user"), UNREAD)
    channel = where(workspace, arguments.needed("channel"))
    writable(workspace, channel)
    if arguments.needed("user") not in channel.members or workspace.user(arguments.needed("user")) is None:
        raise Refused("user_not_in_channel")
    _thread(workspace, channel, arguments)
    _text(arguments)
    return {"message_ts": workspace.stamp()}


def where(workspace: Workspace, name: str) -> Channel:
    """Return a channel by its id or name, or a person's direct one. Raises Refused."""
    if name in workspace.channels:
        return workspace.channels[name]
    person = workspace.user(name)
    if person is not None and not person.bot_id:
        return workspace.channel("direct", person)
    named = [channel for channel in workspace.channels.values() if channel.name and channel.name == name.lstrip("#")]
    if not named:
        raise Refused("channel_not_found")
    return named[0]


def writable(workspace: Workspace, channel: Channel) -> None:
    """Raise Refused when nobody, or not the agent, can say something there."""
    if channel.archived:
        raise Refused("is_archived")
    if workspace.bot.id not in channel.members:
        raise Refused("not_in_channel" if channel.kind == "public" else "channel_not_found")


def shown(workspace: Workspace, message: Message, *, metadata: bool = True) -> dict[str, Any]:
    """Return a message as Slack's API and events show it."""
    author = message.author
    shown: dict[str, Any] = {"type": "message", "user": author.id, "text": message.text, "ts": message.ts}
    shown["team"] = workspace.team_id
    if author.bot_id:
        app = workspace.app_id if author.id == workspace.bot.id else "A0BUILDBOT"
        shown |= {"bot_id": author.bot_id, "app_id": app}
    if message.thread_ts is not None:
        shown["thread_ts"] = message.thread_ts
        parent = workspace.messages.get((message.channel, message.thread_ts))
        if parent is not None:
            shown["parent_user_id"] = parent.author.id
    if message.files:
        shown |= {"files": list(message.files), "upload": False}
    if message.metadata is not None and metadata:
        shown["metadata"] = message.metadata
    if message.edited_at is not None:
        shown["edited"] = {"user": author.id, "ts": message.edited_at}
    if message.reactions:
        shown["reactions"] = [
            {"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()
        ]
    return shown


def _thread(workspace: Workspace, channel: Channel, arguments: Arguments) -> str | None:
    """Return the thread's name. What answers a reply belongs to the thread of that reply."""
    ts = arguments.stamp("thread_ts", "invalid_thread_ts")
    if ts is None:
        return None
    message = workspace.messages.get((channel.id, ts))
    if message is None:
        raise Refused("thread_not_found")
    return message.thread.ts


def _text(arguments: Arguments) -> tuple[str, list[str]]:
    text = arguments.text("text") or ""
    if not text.strip():
        raise Refused("no_text")
    return text[:LONGEST_TEXT], ["message_truncated"] if len(text) > LONGEST_TEXT else []


def _told(warnings: list[str]) -> list[str]:
    if "message_truncated" not in warnings:
        return []
    return ["[WARN] Your message was truncated but still posted. The `text` field accepts up to 40,000 characters."]


def _metadata(arguments: Arguments) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the metadata, and a warning instead of metadata whose type Slack does not take."""
    value = arguments.json("metadata", "invalid_metadata_format")
    if value is None or value == {}:
        return None, []
    if not isinstance(value, dict) or not isinstance(value.get("event_payload"), dict):
        raise Refused("invalid_metadata_format")
    kind = value.get("event_type")
    if not isinstance(kind, str):
        raise Refused("invalid_metadata_format")
    if not _EVENT_TYPE.fullmatch(kind):
        return None, ["invalid_metadata_schema"]
    return {"event_type": kind, "event_payload": value["event_payload"]}, []
