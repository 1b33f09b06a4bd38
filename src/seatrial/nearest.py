"""The nearest known names to one that is not known, for messages to people."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x' or 'y'?`` for the nearest known names, or an empty text."""
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    return "; did you mean " + " or ".join(f"'{candidate}'" for candidate in close) + "?" if close else ""
