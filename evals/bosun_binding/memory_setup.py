"""Setup data of the plugin ``memory``: what Bosun remembers before the first turn.

Only cases that are composed with the plugin import this module, by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bosun.plugins import PluginHost
from bosun.plugins.memory.store import LONGEST_MEMORY, MemoryStore
from bosun.plugins.memory.store import TEAM as OF_THE_TEAM
from seatrial.inputs import DEFAULT_AUTHOR, TEAM


def check(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every mistake in a memory's ``text`` and ``about``."""
    length = len(" ".join(data["text"].split()))
    if length > LONGEST_MEMORY:
        return (f"the memory has {length} characters; Bosun keeps at most {LONGEST_MEMORY}",)
    return tuple(f"the memory's '{name}' is blank" for name in ("text", "about") if not data[name].strip())


def people(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Name who had the memory kept: the person that it is about, and for the team somebody of it."""
    return (DEFAULT_AUTHOR if data["about"] == TEAM else data["about"],)


async def insert(data: Mapping[str, Any], *, account_id: str, host: PluginHost) -> None:
    """Store the memory with the function behind the tool ``remember``."""
    (author,) = people(data)
    store = MemoryStore(host.engine, clock=host.clock, ids=host.ids)
    subject = OF_THE_TEAM if data["about"] == TEAM else author
    await store.remember(account_id=account_id, subject=subject, author_id=author, text=data["text"])
