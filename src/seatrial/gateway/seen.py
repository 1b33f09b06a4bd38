"""The requests that a gateway has seen, in the order in which they were complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seatrial.gateway.exchange import Aborted, Exchange, Outcome, Request, Role, Usage
from seatrial.gateway.outcome import usage_of


@dataclass(frozen=True)
class SeenRequest:
    """A request that was served. `usage` is what its answer cost when it was made: "recorded", or "spent" just now.

    An answer that a restarted agent was given again is "recorded", and cost nothing.
    """

    role: Role
    conversation: int
    key: str
    occurrence: int
    body: bytes
    source: Literal["recorded", "spent"]
    usage: Usage | None


@dataclass
class Entry:
    """The gateway's own line for a request: `recorded` is what it was served from, `outcome` the upstream's work.

    Both are None while the upstream answers, and stay None when nothing came of it that may be recorded. `again` says
    that an agent that was restarted got the answer of an earlier line once more; then both are that line's.
    """

    role: Role
    conversation: int
    key: str
    occurrence: int
    body: bytes
    request: Request
    recorded: Exchange | None
    outcome: Outcome | None = None
    again: bool = False

    @property
    def given(self) -> Outcome | None:
        """What came of the request, wherever it came from; None while the upstream answers, or when nothing did."""
        return self.recorded.outcome if self.recorded is not None else self.outcome

    @property
    def is_answered(self) -> bool:
        """Whether the agent was given words, which its client did not leave before the end of."""
        return self.given is not None and not isinstance(self.given, Aborted)

    def seen(self) -> SeenRequest:
        """The public view."""
        if self.again:
            return SeenRequest(self.role, self.conversation, self.key, self.occurrence, self.body, "recorded", None)
        if self.recorded is not None:
            source: Literal["recorded", "spent"] = "recorded"
            usage = self.recorded.usage
        else:
            source = "spent"
            usage = usage_of(self.outcome) if self.outcome is not None else None
        return SeenRequest(self.role, self.conversation, self.key, self.occurrence, self.body, source, usage)
