"""What a case can say that has to hold after a turn."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, RootModel, Tag, model_validator

from seatrial.cases.words import Listed, Text, Words, json_value
from seatrial.conversation import CallStatus, TurnStatus
from seatrial.nearest import did_you_mean
from seatrial.slack import SLACK_METHODS


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"'{text}' is no regular expression: {error}") from error
    return text


class TextWords(Words):
    """What a text has to hold. ``match`` are regular expressions, found anywhere."""

    contain: Annotated[list[Text], Listed] = Field(default_factory=list)
    not_contain: Annotated[list[Text], Listed] = Field(default_factory=list)
    match: Annotated[list[Annotated[Text, AfterValidator(_pattern)]], Listed] = Field(default_factory=list)

    def says_nothing(self) -> bool:
        """Tell whether any text at all would do."""
        return not (self.contain or self.not_contain or self.match)


class RepliesWords(TextWords):
    """What the replies of a turn have to be: how many, and what they hold together."""

    count: Annotated[int, Field(ge=0)] | None = None

    def says_nothing(self) -> bool:
        return self.count is None and super().says_nothing()


TEXT_WORDS = tuple(TextWords.model_fields)


class ArgumentTextWords(TextWords):
    """What an argument that is a text has to hold."""

    @model_validator(mode="after")
    def _asserts(self) -> ArgumentTextWords:
        if self.says_nothing():
            raise ValueError("asserts nothing of the argument: say what it has to hold, or leave it out")
        return self


class ExactWords(RootModel[Annotated[Any, AfterValidator(json_value)]]):
    """The value that an argument has to be."""

    @model_validator(mode="after")
    def _means_a_value(self) -> ExactWords:
        if isinstance(self.root, dict):
            for key in self.root:
                if key in TEXT_WORDS:
                    raise ValueError(f"'{key}' stands beside other words: a text has only {', '.join(TEXT_WORDS)}")
                if near := difflib.get_close_matches(key, TEXT_WORDS, n=1, cutoff=0.82):
                    raise ValueError(f"'{key}' is no word here; did you mean '{near[0]}'?")
        return self


def _says_of_argument(value: Any) -> str:
    """A mapping that has only the words of a text is about the text; everything else is the value itself."""
    words = value if isinstance(value, Mapping) else {}
    return "(text)" if words and set(words) <= set(TEXT_WORDS) else "(exact)"


ArgumentWords = Annotated[
    Annotated[ArgumentTextWords, Tag("(text)")] | Annotated[ExactWords, Tag("(exact)")],
    Discriminator(_says_of_argument),
]


class ToolCallWords(Words):
    """Calls of one tool: how often, with which arguments, and how they ended.

    An argument that is not named is free, and so is a status. A call counts for every entry that it fits.
    """

    name: Text
    args: dict[str, ArgumentWords] = Field(default_factory=dict)
    times: Annotated[int, Field(ge=1)] = 1
    status: CallStatus | None = None

    def fits_the_same(self, other: ToolCallWords) -> bool:
        """Tell whether the other entry is about the very same calls."""
        mine, theirs = (json.dumps(words.model_dump(exclude={"times"}), sort_keys=True) for words in (self, other))
        return mine == theirs


def _each_once(entries: list[ToolCallWords]) -> list[ToolCallWords]:
    for position, entry in enumerate(entries):
        if any(entry.fits_the_same(earlier) for earlier in entries[:position]):
            raise ValueError(f"it says the same of '{entry.name}' twice: say it once, with 'times'")
    return entries


def known_method(name: str) -> str:
    """Return the name of a method of Slack's. Raises ValueError, with the nearest names, for another one."""
    if name not in SLACK_METHODS:
        raise ValueError(f"Slack has no method '{name}' here{did_you_mean(name, SLACK_METHODS)}")
    return name


class SlackCallWords(Words):
    """Calls of one method of Slack's: how often, with which arguments, and in the conversation's thread or elsewhere.

    Without ``error`` it means the calls that took effect; with one, those that Slack refused so. An argument that is
    not named is free. A call counts for every entry that it fits.
    """

    method: Annotated[Text, AfterValidator(known_method)]
    times: Annotated[int, Field(ge=0)] = 1
    args: dict[str, ArgumentWords] = Field(default_factory=dict)
    error: Text | None = None
    in_thread: bool | None = None


class ExpectWords(Words):
    """What has to hold after a turn. At least one of it has to be able to fail.

    ``tool_calls`` is a closed list: it tells of every call of the turn, in any order. The case fails when an entry
    fits fewer calls than it says or more, and when a call fits no entry. An empty list says that no tool was called.
    ``compactions`` are the kinds of those that made room for the turn, in order; an empty list says that nothing was
    summarized. ``slack`` is closed for each method that it names. ``reactions`` and ``statuses`` are those in the
    conversation's thread, all of them, in order.
    """

    status: list[TurnStatus] | None = None
    replies: RepliesWords | None = None
    tool_calls: Annotated[list[ToolCallWords], AfterValidator(_each_once)] | None = None
    title: TextWords | None = None
    reactions: list[Text] | None = None
    statuses: list[str] | None = None
    compactions: list[Text] | None = None
    slack: list[SlackCallWords] | None = None

    @model_validator(mode="after")
    def _asserts(self) -> ExpectWords:
        if all(getattr(self, name) is None for name in type(self).model_fields):
            *names, last = type(self).model_fields
            raise ValueError(f"'expect' asserts nothing: say {', '.join(names)} or {last}")
        for name in ("replies", "title"):
            words: TextWords | None = getattr(self, name)
            if words is not None and words.says_nothing():
                raise ValueError(f"'expect.{name}' asserts nothing: say what it has to hold, or leave it out")
        return self
