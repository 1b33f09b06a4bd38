"""What people do in the workspace, and what Slack sends of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from seatrial.slack import SlackThread
from seatrial.standins.slack.chat import shown
from seatrial.standins.slack.data import Channel, ChannelKind, Message, Person
from seatrial.standins.slack.events import Events
from seatrial.standins.slack.workspace import Workspace

_EVERYBODY = ("here", "channel", "everyone")
_NAMED = re.compile(r"(?<![\w@.])@([a-z][a-z0-9_-]*)")
_LINK = re.compile(r"https?://[^\s<>|]+")

Event = dict[str, Any]


def typed(text: str, workspace: Workspace) -> str:
    """Return what a person typed as Slack writes it: escaped, with names, ``@here`` and links as markup."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    linked = _LINK.sub(lambda found: f"<{found[0]}>", escaped)
    return _NAMED.sub(lambda found: _mention(found[1], workspace), linked)


def _mention(name: str, workspace: Workspace) -> str:
    if name in _EVERYBODY:
        return f"<!{name}>"
    person = workspace.bot if name == workspace.bot.name else workspace.person(name)
    return f"<@{person.id}>"


class People:
    """Lets people act. Each method returns the events that Slack sends of it, in their order."""

    def __init__(self, workspace: Workspace, events: Events) -> None:
        self._workspace = workspace
        self._events = events

    def says(
        self,
        name: str,
        text: str,
        *,
        channel: ChannelKind = "public",
        thread: SlackThread | None = None,
        mention: bool = False,
        files: Sequence[tuple[str, str, int]] = (),
    ) -> tuple[Message, tuple[Event, ...]]:
        """Let a person write, in a thread or in a channel. ``files`` are name, media type and size in bytes."""
        message = self.wrote(name, text, channel=channel, thread=thread, mention=mention, files=files)
        return message, self._events.written(message)

    def wrote(
        self,
        name: str,
        text: str,
        *,
        channel: ChannelKind = "public",
        thread: SlackThread | None = None,
        mention: bool = False,
        files: Sequence[tuple[str, str, int]] = (),
    ) -> Message:
        """Keep what a person wrote earlier. Slack has sent it then, and does not now."""
        workspace = self._workspace
        person = workspace.person(name)
        there = self._where(person, channel, thread)
        words = typed(text, workspace)
        if mention:
            words = f"<@{workspace.bot.id}> {words}"
        attached = tuple(self._file(*file) for file in files)
        return workspace.add(there, person, words, thread_ts=None if thread is None else thread.ts, files=attached)

    def bot_says(self, text: str, thread: SlackThread) -> tuple[Event, ...]:
        """Let another app's bot write in a thread."""
        channel = self._workspace.channels[thread.channel]
        message = self._workspace.add(channel, self._workspace.other_bot, text, thread_ts=thread.ts)
        return self._events.written(message)

    def edits(self, name: str, text: str, thread: SlackThread) -> tuple[Event, ...]:
        """Let a person edit the last message that the person wrote in a thread. A mention at its beginning stays."""
        message = self._last(name, thread)
        before = shown(self._workspace, message)
        start = f"<@{self._workspace.bot.id}> "
        message.text = (start if message.text.startswith(start) else "") + typed(text, self._workspace)
        message.edited_at = self._workspace.stamp()
        return (self._events.changed(message, before),)

    def deletes(self, name: str, thread: SlackThread) -> tuple[Event, ...]:
        """Let a person delete the last message that the person wrote in a thread."""
        message = self._last(name, thread)
        event = self._events.deleted(message)
        self._workspace.remove(message)
        return (event,)

    def opens(self, name: str) -> tuple[SlackThread, tuple[Event, ...]]:
        """Let a person open a thread with the agent, which begins with a message that nobody wrote."""
        person = self._workspace.person(name)
        channel = self._workspace.channel("direct", person)
        first = self._workspace.add(channel, self._workspace.bot, "New Assistant Thread")
        return first.thread, (self._events.assistant_thread(first.thread, person),)

    def _where(self, person: Person, kind: ChannelKind, thread: SlackThread | None) -> Channel:
        if thread is None:
            return self._workspace.channel(kind, person)
        channel = self._workspace.channels[thread.channel]
        if channel.kind == "direct" and person.id not in channel.members:
            raise ValueError(f"{person.name} is not in this direct conversation")
        channel.members.add(person.id)
        return channel

    def _last(self, name: str, thread: SlackThread) -> Message:
        person = self._workspace.person(name)
        own = [message for message in self._workspace.replies(thread) if message.author.id == person.id]
        if not own:
            raise ValueError(f"{name} has written nothing in this thread")
        return own[-1]

    def _file(self, name: str, mimetype: str, size: int) -> dict[str, Any]:
        ending = name.rpartition(".")[2]
        made = self._workspace.new_id("F", "file")
        return {
            "id": made,
            "name": name,
            "title": name,
            "mimetype": mimetype,
            "filetype": ending,
            "size": size,
            "mode": "hosted",
            "url_private": f"https://files.slack.com/files-pri/{self._workspace.team_id}-{made}/{name}",
        }
