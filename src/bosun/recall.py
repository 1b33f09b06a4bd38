"""The recall seam: what a part of the app knows that may help with the message at hand, as facts for the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class RecallQuery:
    """Who asks, and the text of the messages that are to be answered."""

    account_id: str
    actor_id: str
    text: str


@dataclass(frozen=True)
class FactBlock:
    """Facts for one block of the prompt, one a line, as they were said: the assembler escapes them."""

    name: str
    lines: tuple[str, ...]


class Recall(Protocol):
    """Finds facts. It sees only what the actor may see."""

    async def recall(self, query: RecallQuery) -> FactBlock | None:
        """Return what is known, or None when nothing is: then no block is rendered."""
        ...
