"""The methods of ``reactions``."""

from __future__ import annotations

import re
from typing import Any

from seatrial.standins.slack.arguments import Arguments
from seatrial.standins.slack.data import Message
from seatrial.standins.slack.emoji import NAMES
from seatrial.standins.slack.refusals import Refused
from seatrial.standins.slack.workspace import Workspace

_TONE = re.compile(r"::skin-tone-[2-6]$")

MOST_OF_ONE = 23
"""How many reactions one member may put under a message."""


def add(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """React to a message."""
    message, name = _what(workspace, arguments)
    users = message.reactions.get(name, [])
    if workspace.bot.id in users:
        raise Refused("already_reacted")
    if sum(workspace.bot.id in others for others in message.reactions.values()) >= MOST_OF_ONE:
        raise Refused("too_many_reactions")
    message.reactions[name] = [*users, workspace.bot.id]
    return {}


def remove(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Take a reaction of the agent's back."""
    message, name = _what(workspace, arguments)
    users = message.reactions.get(name, [])
    if workspace.bot.id not in users:
        raise Refused("no_reaction")
    users.remove(workspace.bot.id)
    if not users:
        del message.reactions[name]
    return {}


def _what(workspace: Workspace, arguments: Arguments) -> tuple[Message, str]:
    arguments.check(("name",))
    if not arguments.text("channel") or not arguments.text("timestamp"):
        raise Refused("no_item_specified")
    stamp = arguments.stamp("timestamp", "bad_timestamp")
    channel = workspace.channels.get(arguments.needed("channel"))
    if channel is None or workspace.bot.id not in channel.members:
        raise Refused("channel_not_found")
    if channel.archived:
        raise Refused("is_archived")
    message = workspace.messages.get((channel.id, stamp or ""))
    if message is None:
        raise Refused("message_not_found")
    name = arguments.needed("name")
    if _TONE.sub("", name) not in NAMES:
        raise Refused("invalid_name")
    return message, name
