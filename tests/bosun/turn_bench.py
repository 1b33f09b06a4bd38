"""An open turn on a real log, and a plugin whose tools count what they did: for the tests of a turn's tool calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from conftest import START, CountedIds, HandClock, KeptSteps
from crashes import Crash
from pydantic import BaseModel, ConfigDict
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.log.events import TokenUsage
from bosun.log.messages import ConversationRecord, InboundMessage, ProposedCall, Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.log.tool_progress import ToolProgress
from bosun.model.client import ModelAnswer, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.model.guardian import Guardian
from bosun.model.profiles import Profile
from bosun.recall import FactBlock, RecallQuery
from bosun.tools import AnyTool, Effect, Example, Tool, ToolContext, ToolFailed, Touches
from bosun.turn.tool_calls import ToolCalls


class Words(BaseModel):
    """What to do it with."""

    model_config = ConfigDict(extra="forbid")

    text: str = ""


@dataclass
class Gadgets:
    """A plugin whose tools count what they did."""

    name: str = "gadgets"
    done: list[tuple[str, ToolContext, str]] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the tool that waits has been called."""
    crash_within: set[int] = field(default_factory=set)
    """The numbers of the calls, from 1, within which the process ends."""

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """One of each kind, and one that never ends."""
        return (
            self.tool("look", "read"),
            self.tool("note", "write", "own_memory"),
            self.tool("post", "external"),
            self.tool("refuse", "read", fault=ToolFailed("there is nothing of that name.")),
            self.tool("break", "read", fault=KeyError("a fault")),
            self.tool("wait", "read"),
        )

    async def recall(self, query: RecallQuery) -> FactBlock | None:
        """Know nothing."""
        return None

    @property
    def names(self) -> list[str]:
        """What was done, in order."""
        return [name for name, _, _ in self.done]

    def tool(self, name: str, effect: Effect, touches: Touches = "other", fault: Exception | None = None) -> AnyTool:
        """Make a tool that counts, and then does what it is told to."""

        async def run(context: ToolContext, arguments: Words) -> str:
            self.done.append((name, context, arguments.text))
            if len(self.done) in self.crash_within:
                raise Crash
            if fault is not None:
                raise fault
            if name == "wait":
                self.begun.set()
                await asyncio.Event().wait()
            return f"{name} {arguments.text}\0"

        return Tool(
            name=name,
            description=f"Do {name}.",
            arguments=Words,
            effect=effect,
            touches=touches,
            example=Example("Do.", {"text": "it"}, "Done.", "I did."),
            run=run,
        )


class Unreachable:
    """A model's service that is not there."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Fail."""
        raise ModelFailure("network", "nobody is there")


ONE_PROFILE = (Profile(name="standard", description="everything"),)
"""Nothing to choose from: the router asks nobody."""


def unspent(role: str, usage: TokenUsage) -> None:
    """Hear that nothing was spent: a rule asks nobody."""
    raise AssertionError(f"{role} took {usage}")


@dataclass
class Bench:
    """An open turn, and what works on its calls."""

    log: ConversationLog
    reader: ConversationReader
    turn: Turn
    gadgets: Gadgets
    steps: KeptSteps
    calls: ToolCalls

    async def ask(self, *calls: tuple[str, str], request: int = 1) -> None:
        """Store an answer that asks for calls."""
        await self.log.record_calls(self.turn, request, "", [ProposedCall(name=n, arguments=a) for n, a in calls])

    async def settle(self) -> ToolProgress:
        """Work on them."""
        return await self.calls.settle(self.turn, "standard", asked="Do.", spend=unspent)

    async def ends(self) -> list[tuple[str, str]]:
        """Return each call's status and output; there must be one."""
        results = [call.result for call in (await self.reader.tool_progress(self.turn)).calls]
        return [(result.status, result.output) for result in results if result is not None]


async def open_turn(engine: AsyncEngine, conversation_id: str = "web:c", most: int = 150) -> Bench:
    """Open a turn of a new conversation."""
    log = ConversationLog(engine, clock=HandClock(), ids=CountedIds())
    reader = ConversationReader(engine)
    await log.open_conversation(ConversationRecord(id=conversation_id, account_id="standard", actor_id="morgan"))
    said = InboundMessage(id="1", actor_id="morgan", author="Morgan", text="Do.", received_at=START)
    turn = await log.start_turn(conversation_id, [said])
    gadgets, steps = Gadgets(), KeptSteps()
    calls = ToolCalls([gadgets], log=log, reader=reader, guardian=Guardian(Unreachable()), steps=steps, most=most)
    return Bench(log, reader, turn, gadgets, steps, calls)


async def types(bench: Bench) -> list[str]:
    """Return the types of the rows since the answer."""
    found = [event.payload.type for event in await bench.reader.events(bench.turn.conversation_id)]
    return found[found.index("assistant_message") + 1 :]


@dataclass
class OneTool:
    """A plugin with one tool."""

    tool: AnyTool
    name: str = "one"

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """Return it."""
        return (self.tool,)

    async def recall(self, query: RecallQuery) -> FactBlock | None:
        """Know nothing."""
        return None
