"""The requests that a gateway has seen, in the order in which they were complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seatrial.gateway.exchange import Exchange, Outcome, Request, Role, Usage
from seatrial.gateway.outcome import usage_of


@dataclass(frozen=True)
class SeenRequest:
    """A request that was served. `usage` is what its answer cost when it was made: "recorded", or "spent" just now."""

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

    Both are None while the upstream answers, and stay None when nothing came of it that may be recorded.
    """

    role: Role
    conversation: int
    key: str
    occurrence: int
    body: bytes
    request: Request
    recorded: Exchange | None
    outcome: Outcome | None = None

    def seen(self) -> SeenRequest:
        """The public view."""
        if self.recorded is not None:
            source: Literal["recorded", "spent"] = "recorded"
            usage = self.recorded.usage
        else:
            source = "spent"
            usage = usage_of(self.outcome) if self.outcome is not None else None
        return SeenRequest(self.role, self.conversation, self.key, self.occurrence, self.body, source, usage)
