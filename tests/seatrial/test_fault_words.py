"""What a case may say of failures, and where each is ordered."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from seatrial.cases.faults import FaultWords

WORDS: TypeAdapter[FaultWords] = TypeAdapter(FaultWords)


class Ordered:
    """Keeps what is ordered."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, dict[str, Any]]] = []

    def of_model(self, **how: Any) -> None:
        self.orders.append(("model", how))

    def of_slack(self, method: str, **how: Any) -> None:
        self.orders.append((method, how))


@pytest.mark.parametrize(
    ("words", "where", "how"),
    [
        ({"reject": "rate_limit"}, "model", {"reject": "rate_limit", "role": "agent", "times": 1}),
        (
            {"reject": "rate_limit", "retry_after": 7, "times": 2, "role": "router"},
            "model",
            {"reject": "rate_limit", "retry_after": 7, "times": 2, "role": "router"},
        ),
        ({"time_out": True}, "model", {"time_out": True, "role": "agent", "times": 1}),
        ({"cut_after": 0}, "model", {"cut_after": 0, "role": "agent", "times": 1}),
        ({"slack": "chat.update", "error": "x"}, "chat.update", {"error": "x", "times": 1}),
        ({"slack": "chat.update", "drop": "after", "times": 3}, "chat.update", {"drop": "after", "times": 3}),
    ],
)
def test_a_failure_is_ordered_where_it_happens(words: dict[str, Any], where: str, how: dict[str, Any]) -> None:
    ordered = Ordered()
    WORDS.validate_python(words).order(ordered)
    assert ordered.orders == [(where, how)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({}, "a fault of the model is one of"),
        ({"reject": "server", "time_out": True}, "a fault of the model is one of"),
        ({"reject": "unknown"}, "'auth', 'permission'"),
        ({"reject": "server", "role": "web"}, "'agent', 'router'"),
        ({"time_out": False}, "True"),
        ({"cut_after": -1}, "greater than or equal to 0"),
        ({"reject": "auth", "retry_after": 3}, "a provider says 'retry_after' with"),
        ({"reject": "server", "times": 0}, "greater than or equal to 1"),
        ({"drop": "after"}, "Field required"),
        ({"reject": "server", "slack": "chat.update"}, "Extra inputs"),
    ],
)
def test_a_failure_that_nobody_has_is_a_mistake(words: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        WORDS.validate_python(words)
