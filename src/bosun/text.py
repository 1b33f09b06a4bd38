"""Text from models, tools and people, made fit to be stored."""

from __future__ import annotations


def storable(text: str) -> str:
    """Return the text without what UTF-8 and PostgreSQL cannot hold: NUL is left out, lone surrogates become `?`."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
