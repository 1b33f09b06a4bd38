"""The names of emoji. Models write the emoji itself as often as its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

LONGEST_NAME: Final = 100

_NAME: Final = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")
_VARIATION: Final = "\N{VARIATION SELECTOR-16}"

COMMON: Final[Mapping[str, str]] = {
    "👍": "thumbsup",
    "👎": "thumbsdown",
    "🎉": "tada",
    "❤": "heart",
    "😀": "grinning",
    "😄": "smile",
    "🙂": "slightly_smiling_face",
    "😂": "joy",
    "🙏": "pray",
    "👏": "clap",
    "🙌": "raised_hands",
    "👀": "eyes",
    "🚀": "rocket",
    "🔥": "fire",
    "💯": "100",
    "✅": "white_check_mark",
    "❌": "x",
    "👋": "wave",
    "🤔": "thinking_face",
    "⭐": "star",
}
"""What is written most. For any other, the name is needed."""


def named(emoji: str) -> str | None:
    """Return the name of what was written: a name, with colons or without, or a common emoji. None for neither."""
    written = emoji.strip().strip(":").replace(_VARIATION, "")
    name = COMMON.get(written, written.lower().replace(" ", "_"))
    return name if _NAME.fullmatch(name) else None
