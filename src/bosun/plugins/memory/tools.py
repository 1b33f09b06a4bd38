"""The tools of the memory plugin, and every word about them that a model reads."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from bosun.plugins.memory.store import LONGEST_MEMORY, MemoryStore, MemoryUnfit
from bosun.tools import AnyTool, Example, Tool, ToolContext, ToolFailed

KEPT: Final = "Kept."
NOTHING: Final = "Nothing was found."
MOST_FOUND: Final = 5


class Remember(BaseModel):
    """What to keep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[str, Field(max_length=LONGEST_MEMORY)]


class SearchMemory(BaseModel):
    """What to look for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(max_length=LONGEST_MEMORY)]


def memory_tools(store: MemoryStore) -> tuple[AnyTool, ...]:
    """Return the tools over a store."""

    async def remember(context: ToolContext, arguments: Remember) -> str:
        try:
            await store.remember(
                account_id=context.account_id,
                subject=context.actor_id,
                author_id=context.actor_id,
                text=arguments.text,
                conversation_id=context.conversation_id,
            )
        except MemoryUnfit as error:
            raise ToolFailed(str(error)) from error
        return KEPT

    async def search_memory(context: ToolContext, arguments: SearchMemory) -> str:
        found = await store.search(context.account_id, context.actor_id, arguments.query, MOST_FOUND)
        return "\n".join(memory.text for memory in found) or NOTHING

    return (
        Tool(
            name="remember",
            description="Keep a fact for later conversations.",
            arguments=Remember,
            effect="write",
            touches="own_memory",
            example=Example(
                request="Remember that the demo is on Monday.",
                arguments={"text": "The demo is on Monday."},
                result=KEPT,
                reply="I will remember that the demo is on Monday.",
            ),
            run=remember,
        ),
        Tool(
            name="search_memory",
            description="Find kept facts.",
            arguments=SearchMemory,
            effect="read",
            example=Example(
                request="Look up what you know about the demo.",
                arguments={"query": "demo"},
                result="The demo is on Monday.",
                reply="The demo is on Monday.",
            ),
            run=search_memory,
        ),
    )
