"""What a case says that was there before its first turn: history and setup data."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from seatrial.cases.sends import MESSAGES, MessageWords
from seatrial.cases.words import Text, Words, json_value
from seatrial.history import HistoryItem, reply, tool_call
from seatrial.inputs import DEFAULT_AUTHOR, TEAM


class HistoryToolWords(Words):
    """One call of a tool that an earlier answer needed, with what came of it."""

    name: Text
    input: Annotated[dict[str, Any], AfterValidator(json_value)] = Field(default_factory=dict)
    output: str


class HistoryWords(MessageWords):
    """An earlier message of a person, or an earlier answer of the agent with the tools that it called."""

    reply: Text | None = None
    author: Text | None = None
    tools: list[HistoryToolWords] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_of_both(self) -> HistoryWords:
        if len(self.written()) + (self.reply is not None) != 1:
            raise ValueError(f"an item of 'history' is one of: {', '.join((*MESSAGES, 'reply'))}")
        if mistake := self.mistakes():
            raise ValueError(mistake)
        if self.reply is not None and self.author is not None:
            raise ValueError("a reply has no 'author': it is the agent's")
        if self.reply is None and self.tools:
            raise ValueError(f"a {self.written()[0]} has no 'tools': the agent called them for its reply")
        return self

    def item(self) -> HistoryItem:
        """Return what the words say."""
        if self.reply is not None:
            return reply(self.reply, tools=[tool_call(tool.name, tool.input, tool.output) for tool in self.tools])
        return self.message(self.author or DEFAULT_AUTHOR)


class MemoryWords(Words):
    """Something that the agent remembers: of the team, or of the one person that ``about`` names."""

    text: Text
    about: Text = TEAM


class SetupWords(Words):
    """One piece of data that is there before the first turn, under the name of its kind."""

    memory: MemoryWords | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> SetupWords:
        if len(self.model_fields_set) != 1 or self.memory is None:
            raise ValueError(f"an item of 'setup' is one of: {', '.join(type(self).model_fields)}")
        return self

    def piece(self) -> tuple[str, dict[str, Any]]:
        """Return the kind and its data."""
        (kind,) = self.model_fields_set
        words: Words = getattr(self, kind)
        return kind, words.model_dump()
