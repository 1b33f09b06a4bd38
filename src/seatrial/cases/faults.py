"""The failures that a case orders for a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from seatrial.cases.expectations import known_method
from seatrial.cases.visible import listed
from seatrial.cases.words import Text, Words
from seatrial.report.record import CheckRecord


class FaultWords(Words):
    """The next calls of a method of Slack's fail: with an error of Slack's, or by a connection that is cut.

    ``retry_after`` are the seconds that Slack asks an agent to wait for when it limits a rate. ``drop`` says whether
    the connection is cut before the call takes effect or after.
    """

    slack: Annotated[Text, AfterValidator(known_method)]
    error: Text | None = None
    retry_after: Annotated[int, Field(ge=1)] | None = None
    drop: Literal["before", "after"] | None = None
    times: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _one_failure(self) -> FaultWords:
        if (self.error is None) == (self.drop is None):
            raise ValueError("a fault of Slack is one of: error: WORD, drop: before, drop: after")
        if (self.error == "ratelimited") != (self.retry_after is not None):
            raise ValueError("Slack says 'retry_after' with the error 'ratelimited', and only then")
        return self

    def ordered(self) -> dict[str, Any]:
        """Return what `Trial.fail_on_slack` is told."""
        told = self.model_dump(exclude={"slack"}, exclude_none=True)
        return {"method": self.slack, **told}


def check_faults(faults: Sequence[FaultWords], left: Sequence[str]) -> list[CheckRecord]:
    """Return a check that each fault came to pass: one that did not had no part in the turn. ``left`` are those."""
    if not faults:
        return []
    return [CheckRecord("faults", "each came to pass", f"left over: {listed(left)}", not left)]
