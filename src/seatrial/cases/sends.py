"""The inputs that a case can send."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from seatrial.cases.words import Listed, Text, Words
from seatrial.inputs import (
    DEFAULT_AUTHOR,
    Input,
    Message,
    SlackChannel,
    SlackFile,
    slack_bot_message,
    slack_deletion,
    slack_direct_message,
    slack_edit,
    slack_mention,
    slack_thread_message,
    web_message,
    web_stop,
)


class FileWords(Words):
    """A file that hangs on a message in Slack; ``size`` is in bytes."""

    name: Text
    mimetype: Text = "text/plain"
    size: Annotated[int, Field(ge=0)] = 1024

    def file(self) -> SlackFile:
        """Return what the words say."""
        return SlackFile(self.name, self.mimetype, self.size)


class MessageWords(Words):
    """What a person wrote, and what goes with that on Slack: the ``channel``'s kind, ``files``."""

    web_message: Text | None = None
    slack_mention: Text | None = None
    slack_thread_message: Text | None = None
    slack_direct_message: Text | None = None
    channel: SlackChannel | None = None
    files: Annotated[list[FileWords], Listed] = Field(default_factory=list)

    def written(self) -> tuple[str, ...]:
        """Name the messages that are there: exactly one is right."""
        return tuple(name for name in MESSAGES if getattr(self, name) is not None)

    def mistakes(self) -> str | None:
        """Say what does not belong to the message."""
        if self.channel is not None and self.slack_mention is None:
            return "only a slack_mention has a 'channel'; what follows is in its thread"
        if self.files and (self.written() or ("web_message",))[0] == "web_message":
            return "only a message on Slack has 'files'"
        return None

    def message(self, author: str, **more: Any) -> Message:
        """Return the message that the words say."""
        files = [file.file() for file in self.files]
        if self.slack_mention is not None:
            kind = self.channel or "public"
            return slack_mention(self.slack_mention, author=author, channel=kind, files=files, **more)
        if self.slack_thread_message is not None:
            return slack_thread_message(self.slack_thread_message, author=author, files=files, **more)
        if self.slack_direct_message is not None:
            return slack_direct_message(self.slack_direct_message, author=author, files=files, **more)
        return web_message(self.web_message or "", author=author)


MESSAGES = ("web_message", "slack_mention", "slack_thread_message", "slack_direct_message")

_OTHERS = ("web_stop", "slack_edit", "slack_deletion", "slack_bot_message")


class SendWords(MessageWords):
    """One input: what a person wrote or did, or what another bot wrote. ``author`` is who it was.

    ``deliveries`` is how often Slack sends the message, ``assistant_thread`` says that a new direct message is
    written in a thread that its author has opened with the agent.
    """

    web_stop: Annotated[bool, Literal[True]] | None = None
    slack_edit: Text | None = None
    slack_deletion: Annotated[bool, Literal[True]] | None = None
    slack_bot_message: Text | None = None
    author: Text = DEFAULT_AUTHOR
    deliveries: Annotated[int, Field(ge=1, le=4)] | None = None
    assistant_thread: Annotated[bool, Literal[True]] | None = None

    @model_validator(mode="after")
    def _one_input(self) -> SendWords:
        others = [name for name in _OTHERS if getattr(self, name) not in (None, False)]
        if len(self.written()) + len(others) != 1:
            told = [f"{name}: {'true' if name in ('web_stop', 'slack_deletion') else 'TEXT'}" for name in INPUTS]
            raise ValueError(f"an input is one of: {', '.join(told)}")
        if mistake := self.mistakes() or self._misfit():
            raise ValueError(mistake)
        return self

    def _misfit(self) -> str | None:
        message = self.written()
        if self.slack_bot_message is not None and "author" in self.model_fields_set:
            return "a slack_bot_message has no 'author': another app's bot wrote it"
        if self.deliveries is not None and (not message or message[0] == "web_message"):
            return "only a message on Slack has 'deliveries'"
        if self.assistant_thread is not None and self.slack_direct_message is None:
            return "only a slack_direct_message can begin an 'assistant_thread'"
        return None

    def item(self) -> Input:
        """Return what the words say."""
        if self.slack_edit is not None:
            return slack_edit(self.slack_edit, author=self.author)
        if self.slack_deletion:
            return slack_deletion(author=self.author)
        if self.slack_bot_message is not None:
            return slack_bot_message(self.slack_bot_message)
        if self.web_stop:
            return web_stop(author=self.author)
        more: dict[str, Any] = {} if self.deliveries is None else {"deliveries": self.deliveries}
        if self.assistant_thread:
            more["assistant_thread"] = True
        return self.message(self.author, **more)


INPUTS = (*MESSAGES, *_OTHERS)
"""The names of all inputs."""
