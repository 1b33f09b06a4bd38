"""The plugin `memory`: keeps facts for later conversations, and recalls those that may help with a message.

An actor sees what was kept for the actor and what was kept for the whole team of the account, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bosun.plugins import Plugin, PluginHost

NAME: Final = "memory"
BLOCK: Final = "memories"

CONTRACTS: Final[Mapping[str, int]] = {"tools.memory": 1, "context.memories": 1}
"""Of the tools' meaning, and of the block's: one memory a line, the best match first."""


def create(host: PluginHost) -> Plugin:
    """Make the plugin for one app."""
    from bosun.plugins.memory.plugin import MemoryPlugin  # whoever asks for the contracts needs no store
    from bosun.plugins.memory.store import MemoryStore

    return MemoryPlugin(MemoryStore(host.engine, clock=host.clock, ids=host.ids))
