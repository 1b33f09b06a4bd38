"""What tokens cost: worked out by hand, counted once, and unknown where nobody said."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosun.prices import Price, Prices

DAY = date(2026, 12, 1)


def price(model: str = "large", **changes: Any) -> Price:
    given = {"currency": "USD", "input": Decimal(2), "output": Decimal(8), "cached_input": Decimal("0.5"), "as_of": DAY}
    return Price(model=model, **{**given, **changes})


def usage(input_: int, output: int, cached: int = 0) -> dict[str, int]:
    return {"inputTokens": input_, "outputTokens": output, "cachedInputTokens": cached}


@pytest.mark.parametrize(
    ("used", "changes", "cost"),
    [
        (usage(1_000_000, 0), {}, "2.000000"),
        (usage(0, 1_000_000), {}, "8.000000"),
        (usage(1_000_000, 0, 400_000), {}, "1.400000"),  # 600,000 at 2 and 400,000 at 0.5
        (usage(1_000_000, 0, 400_000), {"cached_input": None}, "2.000000"),
        (usage(343, 29), {}, "0.000918"),  # 343 * 2 + 29 * 8 = 918
        (usage(0, 0), {}, "0.000000"),
    ],
)
def test_a_cost_is_what_one_works_out(used: dict[str, int], changes: dict[str, Any], cost: str) -> None:
    assert f"{price(**changes).of(used):f}" == cost


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.data())
def test_cached_tokens_are_counted_once_and_never_cost_more(input_: int, output: int, data: st.DataObject) -> None:
    cached = data.draw(st.integers(0, input_))
    assert 0 <= price().of(usage(input_, output, cached)) <= price().of(usage(input_, output))


def alias(role: str, profile: str | None) -> str:
    return "small" if role == "router" else "huge" if profile == "deep" else "large"


def turn(profile: str | None, **used: dict[str, int]) -> dict[str, Any]:
    return {"id": "t", "routing": None if profile is None else {"profile": profile}, "usage": used}


def test_each_role_has_the_price_of_its_model_and_one_without_a_price_has_no_cost() -> None:
    prices = Prices([price("large"), price("small", input=Decimal(1))], alias)
    used = usage(1_000_000, 0)
    costs = prices.costs(turn("quick", agent=used, router=used))
    assert costs == {
        "agent": {"amount": "2.000000", "currency": "USD", "asOf": "2026-12-01"},
        "router": {"amount": "1.000000", "currency": "USD", "asOf": "2026-12-01"},
    }
    assert prices.costs(turn("deep", agent=used)) == {"agent": None}
    assert prices.costs(turn(None, agent=used))["agent"] is not None
    assert Prices([], alias).told({"id": "c", "turns": [turn("quick", agent=used)]})["turns"][0]["cost"] == {
        "agent": None
    }


@pytest.mark.parametrize("changes", [{"currency": "dollar"}, {"currency": "usd"}, {"input": Decimal(-1)}])
def test_what_is_no_price_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="price of 'large'"):
        price(**changes)


def test_a_model_has_one_price() -> None:
    with pytest.raises(ValueError, match="two prices"):
        Prices([price(), price()], alias)
