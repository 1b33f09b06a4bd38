"""The methods of ``assistant.threads``: what stands over a thread while the agent works, and the thread's title."""

from __future__ import annotations

from typing import Any

from seatrial.slack import SlackThread
from seatrial.standins.slack.arguments import Arguments
from seatrial.standins.slack.refusals import Refused
from seatrial.standins.slack.workspace import Workspace


def set_status(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Set the status; an empty one clears it. A message of the agent in the thread clears it too."""
    arguments.check(("channel_id", "thread_ts", "status"), ("icon_emoji", "icon_url", "username"))
    thread = _thread(workspace, arguments)
    messages = arguments.json("loading_messages", "invalid_arguments")
    if messages is not None and (not isinstance(messages, list) or len(messages) > 10):
        raise Refused("invalid_arguments", "[ERROR] loading_messages: a list of at most 10")
    if status := arguments.needed("status"):
        workspace.statuses[thread] = status
    else:
        workspace.statuses.pop(thread, None)
    return {}


def set_title(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Set the title that a person sees in the list of direct threads with the agent."""
    arguments.check(("channel_id", "thread_ts", "title"))
    thread = _thread(workspace, arguments)
    if not thread.direct:
        raise Refused("channel_not_found")
    workspace.titles[thread] = arguments.needed("title")
    return {}


def _thread(workspace: Workspace, arguments: Arguments) -> SlackThread:
    channel = workspace.channels.get(arguments.needed("channel_id"))
    if channel is None or workspace.bot.id not in channel.members:
        raise Refused("channel_not_found")
    thread = SlackThread(channel.id, arguments.needed("thread_ts"))
    if (thread.channel, thread.ts) not in workspace.messages:
        raise Refused("invalid_thread_ts")
    return thread
