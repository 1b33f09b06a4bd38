"""What a workspace holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from seatrial.slack import SlackThread

ChannelKind = Literal["public", "private", "direct"]


@dataclass(frozen=True)
class Person:
    """A member of the workspace, a bot too. ``name`` is the short name that tests use."""

    id: str
    name: str
    bot_id: str = ""

    @property
    def display_name(self) -> str:
        """The name as the workspace shows it."""
        return self.name[:1].upper() + self.name[1:]


@dataclass
class Channel:
    """A conversation of the workspace. Everybody who writes in one is a member."""

    id: str
    name: str
    kind: ChannelKind
    members: set[str] = field(default_factory=set)
    archived: bool = False


@dataclass
class Message:
    """One message. ``thread_ts`` is that of its thread, None for one that stands in the channel itself."""

    channel: str
    ts: str
    author: Person
    text: str
    thread_ts: str | None = None
    metadata: dict[str, Any] | None = None
    files: tuple[dict[str, Any], ...] = ()
    edited_at: str | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    """Who has reacted, by the emoji's name."""

    @property
    def thread(self) -> SlackThread:
        """The thread that it is in; one that is in none would begin its own."""
        return SlackThread(self.channel, self.thread_ts or self.ts)
