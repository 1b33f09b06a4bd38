"""Say before a recording starts what it may ask and take, and say so where that is not known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial_build.core.document import Listing, Mapping, Node

PROMPT_TOKENS_A_SECOND, ANSWER_TOKENS_A_SECOND = 60, 18
"""The embedded model on one thread, as it was measured; how fast a service is, nobody knows here."""


@dataclass(frozen=True)
class Recorded:
    """What a recording says about itself. A cost is None when one of its answers states none."""

    exchanges: int
    roles: tuple[str, ...]
    tokens: tuple[int, int] | None


def recorded(content: bytes | None) -> Recorded | None:
    """Read a recording as far as the estimate goes; None when there is none, or none that can be read."""
    try:
        exchanges: Any = json.loads(content or b"")["exchanges"]
        roles = tuple(dict.fromkeys(str(each["role"]) for each in exchanges))
        usages = [each["usage"] for each in exchanges]
        known = all(isinstance(usage, dict) for usage in usages)
        tokens = (
            tuple(sum(usage[name] for usage in usages) for name in ("input_tokens", "output_tokens")) if known else None
        )
        return Recorded(len(exchanges), roles, None if tokens is None else (tokens[0], tokens[1]))
    except (ValueError, KeyError, TypeError):
        return None


def turns_in(case: Node | None) -> int:
    """Return how many turns a case sends; 0 when it cannot be read."""
    turns = case.get("turns") if isinstance(case, Mapping) else None
    items = turns.items if isinstance(turns, Listing) else ()
    return sum(1 for item in items if isinstance(item, Mapping) and item.get("send") is not None)


@dataclass(frozen=True)
class Estimate:
    """What one case may ask: `exchanges` as in its recording or, for a new case, a guess from its turns.

    It is None for a new case whose turns nobody counts before it runs.
    """

    case: str
    exchanges: int | None
    basis: str
    tokens: tuple[int, int] | None
    embedded: bool

    @property
    def seconds(self) -> float | None:
        """How long it would take when all is asked; None when that is not known."""
        if self.tokens is None or not self.embedded:
            return None
        return self.tokens[0] / PROMPT_TOKENS_A_SECOND + self.tokens[1] / ANSWER_TOKENS_A_SECOND

    def __str__(self) -> str:
        tokens = "unknown" if self.tokens is None else f"{self.tokens[0]} in, {self.tokens[1]} out"
        return f"{self.case}: {self.basis}; tokens {tokens}; seconds {_seconds(self.seconds)}"


def estimate(
    case: str, turns: int | None, recording: bytes | None, roles: Sequence[str], *, embedded: bool
) -> Estimate:
    """Estimate one case.

    `turns` is None where they cannot be counted. `roles` are those that recordings near it know, for a case that has
    none itself.
    """
    known = recorded(recording)
    if known is not None:
        return Estimate(
            case, known.exchanges, f"{_count(known.exchanges, 'exchange')} as recorded", known.tokens, embedded
        )
    if turns is None:
        return Estimate(case, None, "new; its exchanges are unknown", None, embedded)
    asking = tuple(roles) or ("agent",)
    exchanges = turns * len(asking)
    basis = f"new, about {_count(exchanges, 'exchange')} ({_count(turns, 'turn')} x {' and '.join(asking)})"
    return Estimate(case, exchanges, basis, None, embedded)


def worded(estimates: Iterable[Estimate], *, whom: str, check: bool) -> str:
    """Word the estimates of a run, with their sum."""
    each = list(estimates)
    if check:
        head = f"Asking {whom} everything again; nothing beside the cases is changed. Expected:"
    else:
        head = f"Recording with {whom}. Expected at most, since what is still asked alike is kept and not asked again:"
    unknown = [one for one in each if one.seconds is None]
    total = _seconds(
        sum(one.seconds or 0 for one in each if one.seconds is not None) if len(unknown) < len(each) else None
    )
    if unknown and len(unknown) < len(each):
        total += f", and {_count(len(unknown), 'case')} of unknown length"
    lines = [head, *(f"  {one}" for one in each)]
    if len(each) > 1:
        uncounted = sum(1 for one in each if one.exchanges is None)
        exchanges = _count(sum(one.exchanges or 0 for one in each), "exchange")
        more = f", and those of {_count(uncounted, 'new eval')}" if uncounted else ""
        lines.append(f"  in all: {exchanges}{more}; seconds {total}")
    return "\n".join(lines)


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"about {max(1, round(seconds))}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
