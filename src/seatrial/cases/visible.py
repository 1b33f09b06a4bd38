"""Values of a case as a person can read them in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

_INVISIBLE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufe00-\ufe0f]"
)


def visible(text: str, *, quotes: str = "“”") -> str:
    """Return the text with characters that a reader cannot see written as escapes, in quotes."""
    shown = _INVISIBLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return f"{quotes[:1]}{shown}{quotes[1:]}"


def listed(items: Sequence[str]) -> str:
    """Return the items of a list, or that there are none."""
    return ", ".join(items) if items else "none"
