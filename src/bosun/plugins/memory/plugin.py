"""The memory plugin of one app: its tools, and its recall."""

from __future__ import annotations

from typing import Final

from bosun.plugins.memory import BLOCK, NAME
from bosun.plugins.memory.store import MemoryStore
from bosun.plugins.memory.tools import memory_tools
from bosun.recall import FactBlock, RecallQuery
from bosun.tools import AnyTool

MOST_RECALLED: Final = 3
"""How many memories stand in a prompt at most."""


class MemoryPlugin:
    """What the app composes."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._tools = memory_tools(store)

    @property
    def name(self) -> str:
        """The name by which it is composed."""
        return NAME

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """To keep, and to find."""
        return self._tools

    async def recall(self, query: RecallQuery) -> FactBlock | None:
        """Return the best matches for the messages, or None when nothing matches."""
        found = await self._store.search(query.account_id, query.actor_id, query.text, MOST_RECALLED)
        return FactBlock(BLOCK, tuple(memory.text for memory in found)) if found else None
