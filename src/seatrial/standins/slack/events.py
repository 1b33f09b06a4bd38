"""What Slack sends: the Events API's requests about what people do, signed as Slack signs them."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from seatrial.slack import SlackRequest, SlackThread
from seatrial.standins.slack.chat import shown
from seatrial.standins.slack.data import Channel, Message, Person
from seatrial.standins.slack.workspace import Workspace

CHANNEL_TYPES = {"public": "channel", "private": "group", "direct": "im"}


class Events:
    """Makes the requests. An event that is sent again has its id again, and says the how manieth time it is."""

    def __init__(self, workspace: Workspace, signing_secret: str) -> None:
        self._workspace = workspace
        self._secret = signing_secret

    def written(self, message: Message) -> tuple[dict[str, Any], ...]:
        """Return the events of a new message. In a channel, one that mentions the agent is told of twice."""
        channel = self._workspace.channels[message.channel]
        told = self._wrapped(self._message(channel, message))
        if channel.kind == "direct" or f"<@{self._workspace.bot.id}>" not in message.text or message.author.bot_id:
            return (told,)
        mention = {k: v for k, v in told["event"].items() if k not in ("subtype", "channel_type", "parent_user_id")}
        return (self._wrapped({**mention, "type": "app_mention"}), told)

    def changed(self, message: Message, before: dict[str, Any]) -> dict[str, Any]:
        """Return the event of a message that its author has edited; ``before`` is how it was shown."""
        more = {"message": shown(self._workspace, message), "previous_message": before}
        return self._hidden(message, "message_changed", more)

    def deleted(self, message: Message) -> dict[str, Any]:
        """Return the event of a message that is gone."""
        more = {"deleted_ts": message.ts, "previous_message": shown(self._workspace, message)}
        return self._hidden(message, "message_deleted", more)

    def assistant_thread(self, thread: SlackThread, person: Person) -> dict[str, Any]:
        """Return the event of a person who has opened a thread with the agent."""
        context = {"channel_id": thread.channel, "team_id": self._workspace.team_id, "enterprise_id": None}
        about = {"user_id": person.id, "context": context, "channel_id": thread.channel, "thread_ts": thread.ts}
        stamp = self._workspace.stamp()
        return self._wrapped({"type": "assistant_thread_started", "assistant_thread": about, "event_ts": stamp})

    def request(self, event: dict[str, Any], *, retry: int = 0) -> SlackRequest:
        """Return the signed request of an event. ``retry`` counts from 1 when it is sent again."""
        body = json.dumps(event, ensure_ascii=False).encode()
        now = str(self._workspace.now())
        digest = hmac.new(self._secret.encode(), b"v0:" + now.encode() + b":" + body, hashlib.sha256).hexdigest()
        headers = {
            "content-type": "application/json",
            "x-slack-request-timestamp": now,
            "x-slack-signature": f"v0={digest}",
        }
        if retry:
            headers |= {"x-slack-retry-num": str(retry), "x-slack-retry-reason": "http_timeout"}
        return SlackRequest(headers, body)

    def _message(self, channel: Channel, message: Message) -> dict[str, Any]:
        event = {**shown(self._workspace, message), "channel": channel.id, "event_ts": message.ts}
        event["channel_type"] = CHANNEL_TYPES[channel.kind]
        if message.files:
            event["subtype"] = "file_share"
        return event

    def _hidden(self, message: Message, subtype: str, more: dict[str, Any]) -> dict[str, Any]:
        stamp = self._workspace.stamp()
        kind = CHANNEL_TYPES[self._workspace.channels[message.channel].kind]
        event = {"type": "message", "subtype": subtype, "hidden": True, "channel": message.channel}
        return self._wrapped({**event, "ts": stamp, "event_ts": stamp, "channel_type": kind, **more})

    def _wrapped(self, event: dict[str, Any]) -> dict[str, Any]:
        workspace = self._workspace
        return {
            "token": "deprecated",
            "team_id": workspace.team_id,
            "context_team_id": workspace.team_id,
            "context_enterprise_id": None,
            "api_app_id": workspace.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": workspace.new_id("Ev", "event"),
            "event_time": workspace.now(),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": workspace.team_id,
                    "user_id": workspace.bot.id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
        }
