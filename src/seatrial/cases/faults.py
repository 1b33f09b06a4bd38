"""The failures that a case orders for a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from seatrial.cases.expectations import known_method
from seatrial.cases.visible import listed
from seatrial.cases.words import Text, Words
from seatrial.report.record import CheckRecord

Rejected = Literal[
    "auth",
    "permission",
    "rate_limit",
    "quota",
    "capacity",
    "timeout",
    "network",
    "server",
    "invalid_request",
    "invalid_response",
    "content_policy",
]
AskingRole = Literal["agent", "router", "title", "guardian", "reply_policy", "compaction", "memory", "judge"]


class Orders(Protocol):
    """Where faults are ordered."""

    def of_model(self, **how: Any) -> None: ...

    def of_slack(self, method: str, **how: Any) -> None: ...


class SlackFaultWords(Words):
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
    def _one_failure(self) -> SlackFaultWords:
        if (self.error is None) == (self.drop is None):
            raise ValueError("a fault of Slack is one of: error: WORD, drop: before, drop: after")
        if (self.error == "ratelimited") != (self.retry_after is not None):
            raise ValueError("Slack says 'retry_after' with the error 'ratelimited', and only then")
        return self

    def order(self, faults: Orders) -> None:
        """Order it."""
        told = self.model_dump(exclude={"slack"}, exclude_none=True)
        faults.of_slack(self.slack, **told)


class ModelFaultWords(Words):
    """The next requests of a role to the model fail: with a provider's error, without an answer, or in the middle.

    ``cut_after`` counts events of the recorded answer, which stays there for the next request. ``retry_after`` are the
    seconds that a provider asks to wait for.
    """

    reject: Rejected | None = None
    time_out: Literal[True] | None = None
    cut_after: Annotated[int, Field(ge=0)] | None = None
    role: AskingRole = "agent"
    retry_after: Annotated[int, Field(ge=0)] | None = None
    times: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _one_failure(self) -> ModelFaultWords:
        given = [self.reject, self.time_out, self.cut_after]
        if len(given) - given.count(None) != 1:
            raise ValueError("a fault of the model is one of: reject: KIND, time_out: true, cut_after: EVENTS")
        if self.retry_after is not None and self.reject not in ("rate_limit", "capacity", "server"):
            raise ValueError("a provider says 'retry_after' with reject: rate_limit, capacity or server, and only then")
        return self

    def order(self, faults: Orders) -> None:
        """Order it."""
        faults.of_model(**self.model_dump(exclude_none=True))


def _kind(item: Any) -> str:
    """Tell a fault of Slack's by the words that only it has. The tags are no words of a case."""
    return "(slack)" if isinstance(item, Mapping) and {"slack", "error", "drop"} & set(item) else "(model)"


FaultWords = Annotated[
    Annotated[SlackFaultWords, Tag("(slack)")] | Annotated[ModelFaultWords, Tag("(model)")], Discriminator(_kind)
]


def check_faults(faults: Sequence[object], left: Sequence[str]) -> list[CheckRecord]:
    """Return a check that each fault came to pass: one that did not had no part in the turn. ``left`` are those."""
    if not faults:
        return []
    return [CheckRecord("faults", "each came to pass", f"left over: {listed(left)}", not left)]
