"""Whether the arguments of a tool call are those that a case expects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from seatrial.cases.expectations import ExactWords, TextWords

Expected = Mapping[str, TextWords | ExactWords]


def fits(expected: Expected, seen: Any) -> bool:
    """Tell whether each named argument is there and is what is said of it. The others are free.

    Arguments that are no mapping fit only where none is named: a model may have written no JSON at all.
    """
    if not isinstance(seen, Mapping):
        return not expected
    return all(key in seen and _is(words, seen[key]) for key, words in expected.items())


def _is(words: TextWords | ExactWords, seen: Any) -> bool:
    if isinstance(words, ExactWords):
        return same(words.root, seen)
    return isinstance(seen, str) and holds(words, seen)


def holds(words: TextWords, text: str) -> bool:
    """Tell whether the text holds everything that it has to, letter for letter and with case."""
    return (
        all(part in text for part in words.contain)
        and not any(part in text for part in words.not_contain)
        and all(re.search(part, text) is not None for part in words.match)
    )


def same(one: Any, other: Any) -> bool:
    """Compare two values of JSON: ``1`` and ``1.0`` are one number, and ``true`` is none."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
