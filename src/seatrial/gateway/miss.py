"""A request that has no recording: what was asked, the nearest recording, and the first difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.gateway.difference import Difference, distance, first_difference
from seatrial.gateway.exchange import Exchange, Request
from seatrial.gateway.key import JSON


@dataclass(frozen=True)
class Miss:
    """`nearest` is the key of the recorded exchange that is most like the request; None when nothing is recorded.

    `difference` reads like "messages[2].content line 14: recorded '…', asked '…'"; empty without a nearest one.
    """

    role: str
    conversation: int
    occurrence: int
    nearest: str | None
    nearest_name: str
    difference: str

    def explain(self) -> str:
        """One paragraph for people."""
        asked = f"The {self.role} of conversation {self.conversation} asked something that has no recording."
        if self.nearest is None:
            return f"{asked} Nothing is recorded for this trial."
        return f"{asked} The nearest is {self.nearest_name}. First difference: {self.difference}"


def find_miss(
    *, role: str, conversation: int, occurrence: int, key: str, request: Request, recorded: Sequence[Exchange]
) -> Miss:
    """Compare a request without a recording with all that is recorded.

    The nearest has the same key (asked too often), or else the same role and conversation if there is one, or else the
    same role; among these the smallest distance counts, then the order of recording.
    """

    def rank(position: int) -> tuple[int | bool, ...]:
        exchange = recorded[position]
        return (
            exchange.key != key,
            (exchange.role, exchange.conversation) != (role, conversation),
            exchange.role != role,
            (exchange.request.method, exchange.request.path) != (request.method, request.path),
            distance(exchange.request.body, request.body),
            -exchange.occurrence if exchange.key == key else 0,
            position,
        )

    if not recorded:
        return Miss(role, conversation, occurrence, None, "", "")
    position = min(range(len(recorded)), key=rank)
    exchange = recorded[position]
    name = f"exchange {position + 1} of the recording (role {exchange.role}, conversation {exchange.conversation})"
    if exchange.key == key:
        times = f"recorded {_times(exchange.occurrence)}, asked {_times(occurrence)}"
        return Miss(role, conversation, occurrence, exchange.key, name, f"the same request: {times}")
    found = _outer_difference(exchange, role, conversation, request) or first_difference(
        exchange.request.body, request.body
    )
    return Miss(role, conversation, occurrence, exchange.key, name, str(found))


def _outer_difference(exchange: Exchange, role: str, conversation: int, request: Request) -> Difference | None:
    recorded: dict[str, JSON] = {
        "role": exchange.role,
        "conversation": exchange.conversation,
        "method": exchange.request.method,
        "path": exchange.request.path,
    }
    asked: dict[str, JSON] = {
        "role": role,
        "conversation": conversation,
        "method": request.method,
        "path": request.path,
    }
    return first_difference(recorded, asked)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
