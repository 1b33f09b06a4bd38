"""The methods of ``conversations``: threads read page by page, and direct conversations opened."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from seatrial.slack import SlackThread
from seatrial.standins.slack.arguments import Arguments
from seatrial.standins.slack.chat import shown, where
from seatrial.standins.slack.data import Message
from seatrial.standins.slack.refusals import Refused
from seatrial.standins.slack.workspace import Workspace

MOST_ITEMS = 1000

_CURSOR = "next_ts:"


def replies(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Return a page of a thread, its first message first. Ephemeral messages are not in it."""
    arguments.check(("channel", "ts"))
    channel = workspace.channels.get(arguments.needed("channel"))
    if channel is None or (channel.kind != "public" and workspace.bot.id not in channel.members):
        raise Refused("channel_not_found")
    if workspace.bot.id not in channel.members:
        raise Refused("not_in_channel")
    first = workspace.messages.get((channel.id, arguments.needed("ts")))
    if first is None:
        raise Refused("thread_not_found")
    limit = arguments.number("limit", MOST_ITEMS, "invalid_limit", most=MOST_ITEMS)
    oldest = arguments.stamp("oldest", "invalid_ts_oldest")
    latest = arguments.stamp("latest", "invalid_ts_latest")
    there = _between(workspace.replies(first.thread), oldest, latest, inclusive=arguments.flag("inclusive"))
    there = _from(there, arguments.text("cursor"))
    page, rest = there[:limit], there[limit:]
    metadata = arguments.flag("include_all_metadata")
    answer: dict[str, Any] = {"messages": [_item(workspace, message, first.thread, metadata) for message in page]}
    answer["has_more"] = bool(rest)
    if rest:
        answer["response_metadata"] = {"next_cursor": base64.b64encode(f"{_CURSOR}{rest[0].ts}".encode()).decode()}
    return answer


def open_direct(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Open the direct conversation with one person, or one that is there. A second time it is there already."""
    users, channel_id = arguments.text("users"), arguments.text("channel")
    if users:
        names = [name for name in users.split(",") if name]
        if len(names) > 8:
            raise Refused("too_many_users")
        if len(names) > 1:
            raise Refused("invalid_arguments", "[ERROR] the stand-in for Slack opens no conversation of several people")
        person = workspace.user(names[0]) if names else None
        if person is None:
            raise Refused("user_not_found")
        if person.bot_id:
            raise Refused("cannot_dm_bot")
        known = set(workspace.channels)
        channel = workspace.channel("direct", person)
        there = channel.id in known
    elif channel_id:
        channel, there = where(workspace, channel_id), True
        if channel.kind != "direct":
            raise Refused("method_not_supported_for_channel_type")
    else:
        raise Refused("users_list_not_supplied")
    answer: dict[str, Any] = {"no_op": there, "already_open": there, "channel": {"id": channel.id}}
    if arguments.flag("return_im"):
        user = next(member for member in sorted(channel.members) if member != workspace.bot.id)
        answer["channel"] |= {"is_im": True, "user": user}
    return answer


def _between(
    messages: tuple[Message, ...], oldest: str | None, latest: str | None, *, inclusive: bool
) -> tuple[Message, ...]:
    return tuple(
        message
        for message in messages
        if (oldest is None or oldest < message.ts or (inclusive and oldest == message.ts))
        and (latest is None or message.ts < latest or (inclusive and latest == message.ts))
    )


def _from(messages: tuple[Message, ...], cursor: str | None) -> tuple[Message, ...]:
    if not cursor:
        return messages
    try:
        text = base64.b64decode(cursor, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Refused("invalid_cursor") from error
    if not text.startswith(_CURSOR):
        raise Refused("invalid_cursor")
    return tuple(message for message in messages if message.ts >= text.removeprefix(_CURSOR))


def _item(workspace: Workspace, message: Message, thread: SlackThread, metadata: bool) -> dict[str, Any]:
    item = shown(workspace, message, metadata=metadata)
    count = len(workspace.replies(thread)) - 1
    if message.ts == thread.ts and count:
        item |= {"thread_ts": message.ts, "reply_count": count}
    return item
