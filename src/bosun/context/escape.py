"""The one place where text of people and third parties is made fit for a block of the prompt.

Within a block, one line is one fact and angle brackets open and close. So that a name can do neither, each
value becomes one line without brackets.
"""

from __future__ import annotations

import unicodedata
from typing import Final

LONGEST_VALUE: Final = 120
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAKING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, invisible formatting, surrogates, and line and paragraph separators."""


def one_line(text: str, longest: int = LONGEST_VALUE) -> str:
    """Return anybody's text as one line that cannot open or close a block, of so many characters before escaping."""
    flat = "".join(" " if unicodedata.category(character) in _BREAKING else character for character in text)
    words = " ".join(flat.split())
    if len(words) > longest:
        words = words[: longest - 1].rstrip() + "…"
    return "".join(_ENTITIES.get(character, character) for character in words)
