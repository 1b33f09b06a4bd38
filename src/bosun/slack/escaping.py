"""Slack's three control characters: `&`, `<` and `>` stand for themselves only as entities."""

from __future__ import annotations

import re
from typing import Final

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_CHARACTERS: Final = {entity: character for character, entity in _ENTITIES.items()}
_CONTROL: Final = re.compile(r"[&<>]")
# Slack writes these three and no others: `&quot;` is what a person typed.
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt);")


def escape(text: str) -> str:
    """Return the text as Slack shows it letter by letter: it mentions nobody and links nowhere."""
    return _CONTROL.sub(lambda found: _ENTITIES[found[0]], text)


def unescape(text: str) -> str:
    """Undo `escape`, once: what a person typed as an entity stays one."""
    return _ENTITY.sub(lambda found: _CHARACTERS[found[0]], text)
