"""A Slack thread and the conversation that it is: one name, read both ways."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

PREFIX: Final = "slack"

# Slack's ids are capital letters and digits; what begins with D is a direct message to the app.
_CHANNEL: Final = re.compile(r"[CDG][A-Z0-9]{1,40}")
# A message's name within its channel: seconds and a count. It is text: as a number it would lose digits.
_TS: Final = re.compile(r"[0-9]{1,12}\.[0-9]{1,6}")


def is_channel(text: str) -> bool:
    """Tell whether a text is written as Slack writes a channel's id."""
    return _CHANNEL.fullmatch(text) is not None


def is_ts(text: str) -> bool:
    """Tell whether a text is written as Slack writes a message's `ts`."""
    return _TS.fullmatch(text) is not None


@dataclass(frozen=True)
class SlackThread:
    """A thread: the channel and the `ts` of the message that began it.

    Raises `ValueError` for what Slack does not write: such a name could stand for two conversations.
    """

    channel: str
    thread_ts: str

    def __post_init__(self) -> None:
        if not is_channel(self.channel):
            raise ValueError(f"channel is {self.channel!r}: use an id as Slack writes it, for example C024BE91L")
        if not is_ts(self.thread_ts):
            raise ValueError(f"thread_ts is {self.thread_ts!r}: use a ts as Slack writes it: 1355517523.000005")

    @property
    def conversation_id(self) -> str:
        """The id of the conversation that this thread is."""
        return f"{PREFIX}:{self.channel}:{self.thread_ts}"

    @property
    def is_direct(self) -> bool:
        """Whether one person talks to Bosun alone here."""
        return self.channel.startswith("D")

    @classmethod
    def of(cls, conversation_id: str) -> SlackThread | None:
        """Return the thread that a conversation is, or None where it is not one of Slack's."""
        parts = conversation_id.split(":")
        if len(parts) != 3 or parts[0] != PREFIX or not is_channel(parts[1]) or not is_ts(parts[2]):
            return None
        return cls(parts[1], parts[2])
