"""A workspace: its people, channels and messages, with ids and times of the trial."""

from __future__ import annotations

from typing import Any

from seatrial.clock import TrialClock
from seatrial.ids import TrialIds
from seatrial.slack import SlackThread
from seatrial.standins.slack.data import Channel, ChannelKind, Message, Person

NAMES: dict[ChannelKind, str] = {"public": "general", "private": "leads"}
"""The channel of each kind that everybody writes in. A direct one has no name."""

_PREFIX: dict[ChannelKind, str] = {"public": "C", "private": "C", "direct": "D"}


class Workspace:
    """Everything that the stand-in remembers. It knows neither HTTP nor refusals."""

    def __init__(self, clock: TrialClock, ids: TrialIds) -> None:
        self._clock = clock
        self._ids = ids
        self._stamps = 0
        self._people: dict[str, Person] = {}
        self.team_id = self._id("T", "team")
        self.app_id = self._id("A", "app")
        self.bot = Person(self._id("U", "bot user"), "agent", bot_id=self._id("B", "bot"))
        self.other_bot = Person(self._id("U", "other bot user"), "buildbot", bot_id=self._id("B", "other bot"))
        self.channels: dict[str, Channel] = {}
        self.messages: dict[tuple[str, str], Message] = {}
        self.statuses: dict[SlackThread, str] = {}
        self.titles: dict[SlackThread, str] = {}

    def person(self, name: str) -> Person:
        """Return the person of this short name, who joins the workspace when first spoken of."""
        if name not in self._people:
            self._people[name] = Person(self._id("U", f"user {name}"), name)
        return self._people[name]

    def user(self, user_id: str) -> Person | None:
        """Return the person or bot with this id."""
        everybody = (self.bot, self.other_bot, *self._people.values())
        return next((person for person in everybody if person.id == user_id), None)

    def known(self) -> tuple[Person, ...]:
        """Return the people of the workspace."""
        return tuple(self._people.values())

    def channel(self, kind: ChannelKind, person: Person) -> Channel:
        """Return the channel of this kind that the person writes in, with the agent in it."""
        name = NAMES.get(kind, "")
        for channel in self.channels.values():
            if channel.kind == kind and channel.name == name and (kind != "direct" or person.id in channel.members):
                channel.members.add(person.id)
                return channel
        made = Channel(self._id(_PREFIX[kind], f"channel {kind} {person.name if kind == 'direct' else ''}"), name, kind)
        made.members |= {person.id, self.bot.id}
        self.channels[made.id] = made
        return made

    def add(self, channel: Channel, author: Person, text: str, *, thread_ts: str | None = None, **more: Any) -> Message:
        """Keep a message, written now."""
        message = Message(channel.id, self.stamp(), author, text, thread_ts=thread_ts, **more)
        self.messages[channel.id, message.ts] = message
        return message

    def remove(self, message: Message) -> None:
        """Forget a message that was deleted."""
        del self.messages[message.channel, message.ts]

    def replies(self, thread: SlackThread) -> tuple[Message, ...]:
        """Return the messages of a thread with the one that it began with, oldest first."""
        there = (m for m in self.messages.values() if m.channel == thread.channel)
        return tuple(m for m in there if thread.ts in (m.ts, m.thread_ts))

    def stamp(self) -> str:
        """Return the next timestamp: the trial's second, and a count that makes it the only one of its kind."""
        self._stamps += 1
        return f"{int(self._clock.now().timestamp())}.{self._stamps:06d}"

    def now(self) -> int:
        """Return the trial's second."""
        return int(self._clock.now().timestamp())

    def secret(self, kind: str) -> str:
        """Return an unguessable value of this workspace."""
        return self._ids.nonce("slack", kind)

    def new_id(self, prefix: str, kind: str) -> str:
        """Return the next id of a kind of things that Slack counts, such as events."""
        return self._id(prefix, kind)

    def _id(self, prefix: str, kind: str) -> str:
        return f"{prefix}0{self._ids.nonce('slack', kind)[:9].upper()}"
