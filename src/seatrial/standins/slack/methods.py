"""Every method of Slack's Web API that the stand-in has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seatrial.standins.slack import chat, conversations, reactions, threads
from seatrial.standins.slack.arguments import Arguments
from seatrial.standins.slack.refusals import Refused
from seatrial.standins.slack.workspace import Workspace

Method = Callable[[Workspace, Arguments], dict[str, Any]]


def auth_test(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Say who the token belongs to."""
    return {
        "url": "https://trial.slack.com/",
        "team": "Trial",
        "user": workspace.bot.name,
        "team_id": workspace.team_id,
        "user_id": workspace.bot.id,
        "bot_id": workspace.bot.bot_id,
        "is_enterprise_install": False,
    }


def users_info(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Return what the workspace knows of a member."""
    arguments.check(("user",))
    person = workspace.user(arguments.needed("user"))
    if person is None:
        raise Refused("user_not_found")
    profile = {"display_name": person.display_name, "real_name": person.display_name, "team": workspace.team_id}
    return {
        "user": {
            "id": person.id,
            "team_id": workspace.team_id,
            "name": person.name,
            "real_name": person.display_name,
            "deleted": False,
            "tz": "Etc/UTC",
            "is_bot": bool(person.bot_id),
            "profile": profile,
        }
    }


METHODS: Mapping[str, Method] = {
    "assistant.threads.setStatus": threads.set_status,
    "assistant.threads.setTitle": threads.set_title,
    "auth.test": auth_test,
    "chat.postEphemeral": chat.post_ephemeral,
    "chat.postMessage": chat.post_message,
    "chat.update": chat.update,
    "conversations.open": conversations.open_direct,
    "conversations.replies": conversations.replies,
    "reactions.add": reactions.add,
    "reactions.remove": reactions.remove,
    "users.info": users_info,
}
