"""Slack's side of the way in: a signature, and an intake that keeps what gets through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from bosun.clock import Clock
from bosun.http.slack import Arrival
from bosun.slack.channel import SlackThread
from bosun.slack.events import AssistantThreadStarted, MessageArrived, MessageChanged, MessageDeleted
from bosun.slack.options import SlackOptions
from bosun.slack.signature import SlackSignature

SECRET: Final = "what Slack and these tests know"
SIGNATURE: Final = SlackSignature(SECRET)
SLACK: Final = SlackOptions(bot_token="xoxb-none", signing_secret=SECRET, account_id="standard")

Taken = MessageArrived | MessageChanged | MessageDeleted | AssistantThreadStarted


def signed(body: bytes, clock: Clock) -> dict[str, str]:
    """Return the headers with which Slack sends a body now."""
    timestamp = str(int(clock.now().timestamp()))
    return {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": SIGNATURE.of(timestamp, body),
    }


class UnknownNames:
    """A Slack that does not say what people are called."""

    async def name(self, user_id: str) -> str | None:
        """Know nobody."""
        return None


@dataclass
class KeptWords:
    """A Slack that keeps what is said in its threads."""

    said: list[tuple[str, str]] = field(default_factory=list)

    async def say(self, thread: SlackThread, mrkdwn: str) -> None:
        """Keep the words."""
        self.said.append((thread.conversation_id, mrkdwn))


@dataclass
class KeptEvents:
    """An intake that keeps what it is given, and knows each message once."""

    events: list[tuple[str, Taken]] = field(default_factory=list)
    store_away: Exception | None = None

    async def arrived(self, event: MessageArrived, team_id: str) -> Arrival:
        """Keep a new message."""
        known = any(isinstance(each, MessageArrived) and each.ts == event.ts for _, each in self.events)
        self._keep(event, team_id)
        return "duplicate" if known else "accepted" if event.mentions_bot or event.direct else "not_for_bosun"

    async def changed(self, event: MessageChanged, team_id: str) -> None:
        """Keep a change."""
        self._keep(event, team_id)

    async def deleted(self, event: MessageDeleted, team_id: str) -> None:
        """Keep a deletion."""
        self._keep(event, team_id)

    async def assistant_started(self, event: AssistantThreadStarted, team_id: str) -> None:
        """Keep a beginning."""
        self._keep(event, team_id)

    def _keep(self, event: Taken, team_id: str) -> None:
        if self.store_away is not None:
            raise self.store_away
        self.events.append((team_id, event))
