"""A span of time as a case writes it: ``7d`` is seven days."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
"""The seconds of each unit. A day has 24 hours, whatever the zone: time in a trial is elapsed time."""

LONGEST = 3650 * UNITS["d"]
"""No case needs more, and a calendar ends: the last year that Python's has is 9999."""

_SPAN = re.compile(r"([0-9]+)([a-z])")


def seconds_of(text: Any) -> int:
    """Return the seconds of a span: a whole number with one of the units s, m, h, d, w.

    Raises ValueError for anything else, for a span of nothing, and for more than ten years.
    """
    found = _SPAN.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[2] not in UNITS:
        raise ValueError(f"{text!r} is no span of time: write a whole number with s, m, h, d or w, such as 7d")
    seconds = int(found[1]) * UNITS[found[2]]
    if not seconds:
        raise ValueError(f"{text!r} moves no time: leave it out")
    if seconds > LONGEST:
        raise ValueError(f"{text!r} is too long: at most 3650d")
    return seconds


Span = Annotated[int, BeforeValidator(seconds_of)]
"""A span of time, in seconds."""
