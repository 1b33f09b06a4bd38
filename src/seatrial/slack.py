"""Slack as a test speaks of it: where the agent finds it, what Slack sends, and what the agent called there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SLACK_METHODS = (
    "assistant.threads.setStatus",
    "assistant.threads.setTitle",
    "auth.test",
    "chat.postEphemeral",
    "chat.postMessage",
    "chat.update",
    "conversations.open",
    "conversations.replies",
    "reactions.add",
    "reactions.remove",
    "users.info",
)
"""The methods of Slack's that an agent can call in a trial."""


@dataclass(frozen=True)
class SlackAccess:
    """What an agent's installation in a workspace knows. ``base_url`` ends with a slash, as Slack's libraries want."""

    base_url: str
    bot_token: str
    signing_secret: str
    team_id: str
    bot_user_id: str


@dataclass(frozen=True)
class SlackThread:
    """A thread: the channel that it is in, and the timestamp of its first message, which is its name."""

    channel: str
    ts: str

    @property
    def direct(self) -> bool:
        """Whether it belongs to a direct conversation of one person with the agent."""
        return self.channel.startswith("D")


@dataclass(frozen=True)
class SlackMember:
    """A person of the workspace: the short name that tests use, and Slack's id."""

    name: str
    user_id: str


@dataclass(frozen=True)
class SlackRequest:
    """One request of the Events API, signed: ``body`` is sent as it is, or the signature does not fit."""

    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class SlackPost:
    """One message as it stands in a thread. ``member`` is who wrote it, None for the agent itself."""

    thread: SlackThread
    ts: str
    text: str
    member: SlackMember | None


@dataclass(frozen=True)
class SlackCall:
    """One call of a method by the agent.

    ``error`` is None for a call that took effect, also where the agent never got the answer; else what Slack said, or
    ``connection_lost`` when it was cut off before. ``thread`` is the thread that the call is about, where there is one;
    ``here`` tells whether that is the thread of the conversation whose result this stands in.
    """

    method: str
    args: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    thread: SlackThread | None = None
    here: bool = False
