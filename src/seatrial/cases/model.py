"""The vocabulary of a case. Every word that a case may use is here, and no other is read."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from seatrial.inputs import DEFAULT_AUTHOR
from seatrial.nearest import did_you_mean
from seatrial.steps import STEP_NAMES

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Status = Literal["started", "succeeded", "no_reply", "failed"]


def _known_step(name: str) -> str:
    if name not in STEP_NAMES:
        raise ValueError(f"there is no step '{name}'{did_you_mean(name, STEP_NAMES)}")
    return name


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"'{text}' is no regular expression: {error}") from error
    return text


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"there is no time zone '{name}': use an IANA name such as Europe/Vienna") from error
    return name


def _aware(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} names no zone: write it with Z or an offset")
    return value


def _batch(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SendWords(_Words):
    """One input. ``author`` is who wrote it."""

    web_message: Text
    author: Text = DEFAULT_AUTHOR


class HistoryWords(_Words):
    """An earlier message of a person, or an earlier answer of the agent."""

    web_message: Text | None = None
    reply: Text | None = None
    author: Text | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> HistoryWords:
        if (self.web_message is None) == (self.reply is None):
            raise ValueError("an item of 'history' is a web_message or a reply")
        if self.reply is not None and self.author is not None:
            raise ValueError("a reply has no 'author': it is the agent's")
        return self


class TextWords(_Words):
    """What a text has to hold. ``match`` are regular expressions, found anywhere."""

    contain: list[Text] = []
    not_contain: list[Text] = []
    match: list[Annotated[Text, AfterValidator(_pattern)]] = []

    def says_nothing(self) -> bool:
        """Tell whether any text at all would do."""
        return not (self.contain or self.not_contain or self.match)


class RepliesWords(TextWords):
    """What the replies of a turn have to be: how many, and what they hold together."""

    count: Annotated[int, Field(ge=0)] | None = None

    def says_nothing(self) -> bool:
        return self.count is None and super().says_nothing()


class ExpectWords(_Words):
    """What has to hold after a turn. At least one of it has to be able to fail."""

    status: list[Status] | None = None
    replies: RepliesWords | None = None
    title: TextWords | None = None

    @model_validator(mode="after")
    def _asserts(self) -> ExpectWords:
        if self.status is None and self.title is None and self.replies is None:
            raise ValueError("'expect' asserts nothing: say status, replies or title")
        for name in ("replies", "title"):
            words: TextWords | None = getattr(self, name)
            if words is not None and words.says_nothing():
                raise ValueError(f"'expect.{name}' asserts nothing: say what it has to hold, or leave it out")
        return self


class TurnWords(_Words):
    """One turn under test: what is sent, what has to come of it, and the way that it has to go."""

    send: Annotated[list[SendWords], BeforeValidator(_batch), Field(min_length=1)]
    """The inputs of the turn; several arrive as one batch."""
    expect: ExpectWords
    steps: Annotated[list[Annotated[str, AfterValidator(_known_step)]], Field(min_length=1)]


class AgentWords(_Words):
    """Which agent is under test. Without it, the binding's default composition."""

    plugins: list[Text] = []
    limits: dict[str, Any] = {}


class ClockWords(_Words):
    """When the case takes place."""

    at: Annotated[datetime, AfterValidator(_aware)]
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    week_starts: Literal["monday", "saturday", "sunday"] = "monday"


class Reviewed(_Words):
    """What every case and every fixture says about itself."""

    purpose: Text
    owner: Text
    reviewed: date
    review_by: date
    contracts: dict[str, int] = {}

    @model_validator(mode="after")
    def _dates_in_order(self) -> Reviewed:
        if self.review_by <= self.reviewed:
            raise ValueError(f"'review_by' {self.review_by} is not after 'reviewed' {self.reviewed}")
        return self


class CaseWords(Reviewed):
    """A whole case."""

    agent: AgentWords | None = None
    clock: ClockWords | None = None
    snapshot: Text | None = None
    history: list[HistoryWords] = []
    turns: Annotated[list[TurnWords], Field(min_length=1)]


class SnapshotFixtureWords(Reviewed):
    """A fixture: one small synthetic object. The binding checks ``snapshot``."""

    snapshot: dict[str, Any]
