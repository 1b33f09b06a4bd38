"""Earlier turns of a conversation, loaded as stored data and never run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seatrial.inputs import Message, SlackMessage


@dataclass(frozen=True)
class HistoryTool:
    """One call of a tool that the agent had made for an answer, and what the tool had said."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""


@dataclass(frozen=True)
class HistoryReply:
    """What the agent had answered. ``text`` is what people saw, ``tools`` are the calls that came before it."""

    text: str
    tools: tuple[HistoryTool, ...] = ()


HistoryItem = Message | HistoryReply


@dataclass(frozen=True)
class RecordedConversation:
    """A conversation that took place, as the agent's own export wrote it down. Only the agent can read ``data``."""

    name: str
    data: Any


History = Sequence[HistoryItem] | RecordedConversation
"""What was there before an input: told item by item, or recorded as a whole."""


class RecordedUnreadable(ValueError):
    """A file holds no recorded conversation; the message says which and why."""


def recorded_conversation(path: str | Path) -> RecordedConversation:
    """Read a recorded conversation. Raises RecordedUnreadable; whether the agent can load it, the call says."""
    path = Path(path)
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise RecordedUnreadable(f"{path.as_posix()}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RecordedUnreadable(f"{path.as_posix()}: is not JSON: {error}") from error
    return RecordedConversation(path.as_posix(), data)


def reply(text: str, *, tools: Sequence[HistoryTool] = ()) -> HistoryReply:
    """Say what the agent had answered to the messages before it, after which calls of tools."""
    return HistoryReply(text=text, tools=tuple(tools))


def tool_call(name: str, input: Mapping[str, Any], output: str) -> HistoryTool:
    """Say which tool the agent had called, with which arguments, and what the tool had answered."""
    return HistoryTool(name=name, input=dict(input), output=output)


@dataclass(frozen=True)
class Exchange:
    """One earlier turn: what people wrote, and the answer."""

    messages: tuple[Message, ...]
    reply: HistoryReply

    @property
    def items(self) -> tuple[HistoryItem, ...]:
        """The turn as history items again."""
        return (*self.messages, self.reply)


def exchanges(items: tuple[HistoryItem, ...]) -> tuple[Exchange, ...]:
    """Group history into turns: messages up to a reply are one turn.

    Raises ValueError when a reply answers nothing, or when the last messages have no reply: a turn that
    was never answered would run as soon as the agent looks at its mailbox.
    """
    turns: list[Exchange] = []
    waiting: list[Message] = []
    for position, item in enumerate(items, start=1):
        if not isinstance(item, HistoryReply):
            waiting.append(item)
            continue
        if not waiting:
            raise ValueError(f"history item {position} is a reply to nothing: put a message before it")
        turns.append(Exchange(tuple(waiting), item))
        waiting = []
    if waiting:
        raise ValueError(
            f"history ends with {len(waiting)} message(s) without a reply: add a reply, or send the message in a turn"
        )
    return tuple(turns)


def on_slack(turns: tuple[Exchange, ...]) -> bool:
    """Tell whether history happened on Slack.

    Raises ValueError when some of it did and some did not: who went on elsewhere did it in a turn of its own.
    """
    where = {isinstance(message, SlackMessage) for turn in turns for message in turn.messages}
    if len(where) > 1:
        raise ValueError("history is on Slack or on the web, not on both: send the other message in a turn")
    return True in where
