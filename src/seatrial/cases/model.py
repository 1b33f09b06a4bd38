"""The vocabulary of a case, as a whole. A word that is neither here nor in what this is made of is not read."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from seatrial.cases.earlier import HistoryWords, SetupWords
from seatrial.cases.turns import ItemWords
from seatrial.cases.words import Text, Words


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


class AgentWords(Words):
    """Which agent is under test. Without it, the binding's default composition."""

    plugins: list[Text] = Field(default_factory=list)
    limits: dict[str, Any] = Field(default_factory=dict)


class ClockWords(Words):
    """When the case takes place."""

    at: Annotated[datetime, AfterValidator(_aware)]
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    week_starts: Literal["monday", "saturday", "sunday"] = "monday"


class Reviewed(Words):
    """What every case and every fixture says about itself."""

    purpose: Text
    owner: Text
    reviewed: date
    review_by: date
    contracts: dict[str, int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _dates_in_order(self) -> Reviewed:
        if self.review_by <= self.reviewed:
            raise ValueError(f"'review_by' {self.review_by} is not after 'reviewed' {self.reviewed}")
        return self


class CaseWords(Reviewed):
    """A whole case. ``history`` belongs to its first conversation, ``setup`` to the agent."""

    agent: AgentWords | None = None
    clock: ClockWords | None = None
    snapshot: Text | None = None
    setup: list[SetupWords] = Field(default_factory=list)
    history: list[HistoryWords] = Field(default_factory=list)
    recorded_history: Text | None = None
    """A file below the binding's root, instead of `history`: a conversation that took place, whole."""
    turns: Annotated[list[ItemWords], Field(min_length=1)]


class SnapshotFixtureWords(Reviewed):
    """A fixture: one small synthetic object. The binding checks ``snapshot``."""

    snapshot: dict[str, Any]
