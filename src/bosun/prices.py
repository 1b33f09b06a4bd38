"""What a model's tokens cost: prices are data with a date, and a model without one has no known cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

MILLION: Final = Decimal(1_000_000)
EXACT: Final = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a million tokens of a model cost, as of a day. Raises `ValueError` for what is no price."""

    model: str
    """The alias that Bosun asks for."""
    currency: str
    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    """Of input tokens that the provider had cached; None is the price of any other."""
    as_of: date

    def __post_init__(self) -> None:
        if not (self.currency.isascii() and self.currency.isupper() and len(self.currency) == 3):
            raise ValueError(
                f"the price of {self.model!r}: currency is {self.currency!r}: give ISO 4217's three letters"
            )
        if any(each < 0 for each in (self.input, self.output, self.cached_input or 0)):
            raise ValueError(f"the price of {self.model!r} is below zero")

    def of(self, usage: Mapping[str, int]) -> Decimal:
        """Return what was taken costs. Cached tokens are among the input tokens, and are counted once."""
        cached = usage["cachedInputTokens"]
        rate = self.input if self.cached_input is None else self.cached_input
        whole = (usage["inputTokens"] - cached) * self.input + cached * rate + usage["outputTokens"] * self.output
        return (whole / MILLION).quantize(EXACT)


class Prices:
    """The prices of an app. Raises `ValueError` for two of one model."""

    def __init__(self, prices: Sequence[Price], alias: Callable[[str, str | None], str]) -> None:
        self._prices = {price.model: price for price in prices}
        self._alias = alias
        if len(self._prices) < len(prices):
            raise ValueError("two prices are of one model: give each model one")

    def costs(self, turn: Mapping[str, Any]) -> dict[str, dict[str, str] | None]:
        """Return what a turn of the reporting API cost, by role; None where no price is known."""
        profile = None if turn["routing"] is None else str(turn["routing"]["profile"])
        found: dict[str, dict[str, str] | None] = {}
        for role, usage in turn["usage"].items():
            price = self._prices.get(self._alias(role, profile))
            found[role] = None
            if price is not None:
                amount = f"{price.of(usage):f}"
                found[role] = {"amount": amount, "currency": price.currency, "asOf": price.as_of.isoformat()}
        return found

    def told(self, view: dict[str, Any]) -> dict[str, Any]:
        """Return a conversation of the reporting API with what each of its turns cost."""
        return {**view, "turns": [{**turn, "cost": self.costs(turn)} for turn in view["turns"]]}
