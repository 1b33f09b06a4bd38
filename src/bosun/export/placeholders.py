"""Placeholders: the same for the same value, counted in the order in which the values are met."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

INVENTED: Final = ("morgan", "kim", "robin", "sasha", "alex", "jordan", "taylor", "casey")
"""Who people become. Nobody's names in particular; after these they are numbered."""

Kind = (
    Literal["message", "turn", "tool_call", "person", "company", "project", "secret", "attachment"]
    | Literal["link", "address", "host", "path", "number", "id"]
)


class Placeholders:
    """What each value of a document became."""

    def __init__(self) -> None:
        self._given: dict[tuple[Kind, str], str] = {}
        self._counts: Counter[Kind] = Counter()

    def of(self, kind: Kind, value: str) -> str:
        """Return the value's placeholder."""
        known = self._given.get((kind, value))
        if known is not None:
            return known
        self._counts[kind] += 1
        made = self._given[kind, value] = _made(kind, self._counts[kind])
        return made

    @property
    def counts(self) -> dict[str, int]:
        """How many different values were replaced, by their kind."""
        return {kind: self._counts[kind] for kind in sorted(self._counts)}

    @property
    def given(self) -> frozenset[str]:
        """Every placeholder so far."""
        return frozenset(self._given.values())


def display_name(person: str) -> str:
    """Return how people see a person's placeholder."""
    return person.capitalize()


def _made(kind: Kind, number: int) -> str:
    if kind == "person":
        return INVENTED[number - 1] if number <= len(INVENTED) else f"person{number}"
    if kind == "address":
        return f"address-{number}@example.com"
    if kind == "link":
        return f"https://example.com/link-{number}"
    if kind == "host":
        return f"host-{number}.example.com"
    if kind in ("company", "project"):
        return f"{kind.capitalize()} {number}"
    if kind in ("message", "turn", "tool_call"):
        return f"{kind}-{number}"
    return f"[{kind}-{number}]"
