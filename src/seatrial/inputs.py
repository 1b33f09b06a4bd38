"""What a test can send to an agent: each input goes through the route that production uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

DEFAULT_AUTHOR = "morgan"
"""Who writes when a test does not say who. An invented person."""

TEAM = "team"
"""Whom a memory is about that is not one person's."""

SlackChannel = Literal["public", "private"]
"""The kinds of channels that several people are in."""


@dataclass(frozen=True)
class WebMessage:
    """A message that a signed-in person writes on the web."""

    text: str
    author: str = DEFAULT_AUTHOR


@dataclass(frozen=True)
class WebStop:
    """The button by which a signed-in person tells the agent to stop what it does in a conversation."""

    author: str = DEFAULT_AUTHOR


@dataclass(frozen=True)
class SlackFile:
    """A file that hangs on a message in Slack. ``size`` is in bytes."""

    name: str
    mimetype: str = "text/plain"
    size: int = 1024


@dataclass(frozen=True)
class SlackMention:
    """A message in a channel that mentions the agent: a new one, or one in the conversation's thread.

    ``deliveries`` is how often Slack sends it.
    """

    text: str
    author: str = DEFAULT_AUTHOR
    channel: SlackChannel = "public"
    files: tuple[SlackFile, ...] = ()
    deliveries: int = 1


@dataclass(frozen=True)
class SlackThreadMessage:
    """A message in the conversation's thread that does not mention the agent of itself."""

    text: str
    author: str = DEFAULT_AUTHOR
    files: tuple[SlackFile, ...] = ()
    deliveries: int = 1


@dataclass(frozen=True)
class SlackDirectMessage:
    """A message to the agent alone: a new one, or one in the conversation's thread.

    With ``assistant_thread`` a new one is written in a thread that the person has opened with the agent.
    """

    text: str
    author: str = DEFAULT_AUTHOR
    files: tuple[SlackFile, ...] = ()
    deliveries: int = 1
    assistant_thread: bool = False


@dataclass(frozen=True)
class SlackEdit:
    """The author's last message in the conversation's thread gets another text."""

    text: str
    author: str = DEFAULT_AUTHOR


@dataclass(frozen=True)
class SlackDeletion:
    """The author's last message in the conversation's thread is deleted."""

    author: str = DEFAULT_AUTHOR


@dataclass(frozen=True)
class SlackBotMessage:
    """Another app's bot writes in the conversation's thread."""

    text: str


SlackMessage = SlackMention | SlackThreadMessage | SlackDirectMessage
"""What a person writes on Slack."""

SlackInput = SlackMessage | SlackEdit | SlackDeletion | SlackBotMessage
"""Whatever happens on Slack."""

Message = WebMessage | SlackMessage
"""What a person writes, wherever."""

Input = WebMessage | WebStop | SlackInput
"""Any input. The union grows as more routes join."""


def web_message(text: str, *, author: str = DEFAULT_AUTHOR) -> WebMessage:
    """Say what a person wrote on the web. ``author`` is the person's short name."""
    return WebMessage(text=text, author=author)


def web_stop(*, author: str = DEFAULT_AUTHOR) -> WebStop:
    """Say that a person told the agent on the web to stop. It goes to a conversation that is there already."""
    return WebStop(author=author)


def slack_file(name: str, *, mimetype: str = "text/plain", size: int = 1024) -> SlackFile:
    """Say which file hangs on a message in Slack. ``size`` is in bytes."""
    return SlackFile(name, mimetype, size)


def slack_mention(
    text: str,
    *,
    author: str = DEFAULT_AUTHOR,
    channel: SlackChannel = "public",
    files: Sequence[SlackFile] = (),
    deliveries: int = 1,
) -> SlackMention:
    """Say what a person wrote to the agent in a channel. The mention stands before the text, which has none itself.

    In a text for Slack ``@riley`` is that person, ``@agent`` the agent, ``@here`` everybody.
    """
    return SlackMention(text, author, channel, tuple(files), deliveries)


def slack_thread_message(
    text: str, *, author: str = DEFAULT_AUTHOR, files: Sequence[SlackFile] = (), deliveries: int = 1
) -> SlackThreadMessage:
    """Say what a person wrote in the thread. It goes to a conversation on Slack that is there already."""
    return SlackThreadMessage(text, author, tuple(files), deliveries)


def slack_direct_message(
    text: str,
    *,
    author: str = DEFAULT_AUTHOR,
    files: Sequence[SlackFile] = (),
    deliveries: int = 1,
    assistant_thread: bool = False,
) -> SlackDirectMessage:
    """Say what a person wrote to the agent alone on Slack."""
    return SlackDirectMessage(text, author, tuple(files), deliveries, assistant_thread)


def slack_edit(text: str, *, author: str = DEFAULT_AUTHOR) -> SlackEdit:
    """Say that the author changed the own last message of the thread to this text. A mention before it stays."""
    return SlackEdit(text, author)


def slack_deletion(*, author: str = DEFAULT_AUTHOR) -> SlackDeletion:
    """Say that the author deleted the own last message of the thread."""
    return SlackDeletion(author)


def slack_bot_message(text: str) -> SlackBotMessage:
    """Say what another app's bot wrote in the thread."""
    return SlackBotMessage(text)
