"""The tool calls of a turn: check, have decided, make, and store what came of each, so that a crash anywhere is safe.

Each call is three commits: what was decided, that it begins, what came of it. What is decided is not decided again;
what has begun is never made again; and what has begun without a result may have had its effect, which is what the
model is told.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from bosun.log.events import CallEnd, ReviewDecision, TokenUsage
from bosun.log.messages import Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.log.tool_progress import CallProgress, ToolProgress
from bosun.model.guardian import Decision, Guardian, Proposal
from bosun.plugins import Plugin
from bosun.steps import Step, StepSink
from bosun.stores.faults import STORE_AWAY
from bosun.text import storable
from bosun.tool_arguments import JSON, read_arguments
from bosun.tools import AnyTool, ToolContext, ToolFailed

INTERRUPTED: Final = "Error: the call was interrupted. Its side effect may have happened."
NOT_MADE: Final = "Error: the turn ended before this call was made."
FAULT: Final = "Error: the tool is not working."


class ToolNameTaken(ValueError):
    """Two plugins of one app have a tool of the same name."""

    def __init__(self, name: str, plugins: tuple[str, str]) -> None:
        super().__init__(f"the plugins {plugins[0]!r} and {plugins[1]!r} both have a tool named {name!r}")


@dataclass(frozen=True)
class _Owned:
    plugin: str
    tool: AnyTool


@dataclass(frozen=True)
class _Work:
    turn: Turn
    account_id: str
    asked: str
    spend: Callable[[str, TokenUsage], None]


_NOT_ALLOWED: Final[Mapping[ReviewDecision, str]] = {
    "ask": "a person has to agree to this call first",
    "deny": "the call was not allowed",
}


class ToolCalls:
    """Works on the calls that a turn's answers ask for, with the tools of the app's plugins.

    Raises `ToolNameTaken` when the plugins do not fit together.
    """

    def __init__(
        self,
        plugins: Sequence[Plugin],
        *,
        log: ConversationLog,
        reader: ConversationReader,
        guardian: Guardian,
        steps: StepSink,
        most: int,
    ) -> None:
        self._tools: dict[str, _Owned] = {}
        for plugin in plugins:
            for tool in plugin.tools:
                taken = self._tools.setdefault(tool.name, _Owned(plugin.name, tool))
                if taken.tool is not tool:
                    raise ToolNameTaken(tool.name, (taken.plugin, plugin.name))
        self._schemas = tuple(owned.tool.schema() for owned in self._tools.values())
        self._log = log
        self._reader = reader
        self._guardian = guardian
        self._steps = steps
        self._most = most

    def offered(self, progress: ToolProgress) -> tuple[Mapping[str, JSON], ...]:
        """Return the tools of the turn's next request: none when the turn has made as many calls as it may."""
        return self._schemas if len(progress.calls) < self._most else ()

    async def settle(
        self, turn: Turn, account_id: str, *, asked: str, spend: Callable[[str, TokenUsage], None]
    ) -> ToolProgress:
        """Give each call of the turn that has no result its result, in order, and return where the turn then stands.

        `asked` is what the turn answers, `spend` hears of what reviews take. Raises only when a store is away, or
        whatever cancels it; called again, it goes on where it was.
        """
        progress = await self._reader.tool_progress(turn)
        if not progress.unfinished:
            return progress
        for call in progress.unfinished:
            await self._settle(_Work(turn, account_id, asked, spend), call)
        return await self._reader.tool_progress(turn)

    async def abandon(self, turn: Turn) -> None:
        """Give each call of a turn that is going to fail a result without making it."""
        for progress in (await self._reader.tool_progress(turn)).unfinished:
            if progress.started:
                await self._finish(turn, progress, "timed_out", INTERRUPTED)
            else:
                await self._finish(turn, progress, "failed", NOT_MADE)

    async def interrupt(self, turn: Turn) -> None:
        """Give each call of a turn that pauses, and that was begun, the result that nobody knows its effect.

        What was not begun is for the next slice.
        """
        for progress in (await self._reader.tool_progress(turn)).unfinished:
            if progress.started:
                await self._finish(turn, progress, "timed_out", INTERRUPTED)

    async def _settle(self, work: _Work, progress: CallProgress) -> None:
        turn = work.turn
        if progress.started:  # by an attempt that ended before it could say what came of it
            await self._finish(turn, progress, "timed_out", INTERRUPTED)
            return
        call = progress.call
        self._emit("tool.called", turn, {"name": call.name, "callId": call.id})
        try:
            owned = self._find(progress)
            arguments = owned.tool.parse(call.arguments)
        except ToolFailed as failure:
            await self._finish(turn, progress, "failed", _error(failure))
            return
        given = read_arguments(arguments.model_dump_json())
        decision = await self._decide(work, progress, owned, given)
        if decision.decision != "allow":
            await self._finish(
                turn, progress, "denied", _error(f"{_NOT_ALLOWED[decision.decision]}: {decision.reason}")
            )
        elif await self._log.start_tool(turn, call, given):
            status, output = await self._run(turn, work.account_id, progress, owned.tool, arguments)
            await self._finish(turn, progress, status, output)
        else:  # another attempt was faster; whether it lives is not known
            await self._finish(turn, progress, "timed_out", INTERRUPTED)

    def _find(self, progress: CallProgress) -> _Owned:
        if progress.ordinal > self._most:
            raise ToolFailed(f"one turn may make {self._most} tool calls, and this would be one more")
        owned = self._tools.get(progress.call.name)
        if owned is None:
            names = ", ".join(self._tools) or "none"
            raise ToolFailed(f"there is no tool {progress.call.name!r}; the tools are: {names}")
        return owned

    async def _decide(
        self, work: _Work, progress: CallProgress, owned: _Owned, arguments: Mapping[str, JSON]
    ) -> Decision:
        """Return the decision that is stored, or decide and store it."""
        turn, stored = work.turn, progress.review
        if stored is not None:
            return Decision(stored.decision, stored.risk, stored.reason, stored.by)
        tool = owned.tool
        proposal = Proposal(
            tool=tool.name,
            plugin=owned.plugin,
            effect=tool.effect,
            touches=tool.touches,
            arguments=arguments,
            actor_id=turn.actor_id,
            conversation_id=turn.conversation_id,
            asked=work.asked,
        )
        decision = await self._guardian.decide(proposal)
        if decision.usage != TokenUsage():  # a rule asks nobody
            work.spend("guardian", decision.usage)
        await self._log.record_review(
            turn,
            progress.call,
            effect=tool.effect,
            decision=decision.decision,
            risk=decision.risk,
            reason=decision.reason,
            by=decision.by,
        )
        self._emit("guardian.reviewed", turn, {"tool": tool.name, "decision": decision.decision})
        return decision

    async def _run(
        self, turn: Turn, account_id: str, progress: CallProgress, tool: AnyTool, arguments: BaseModel
    ) -> tuple[CallEnd, str]:
        context = ToolContext(
            conversation_id=turn.conversation_id,
            account_id=account_id,
            actor_id=turn.actor_id,
            turn_id=turn.id,
            call_id=progress.call.id,
        )
        try:
            return "succeeded", storable(await tool.run(context, arguments))
        except ToolFailed as failure:
            return "failed", _error(failure)
        except STORE_AWAY:
            raise
        except Exception:  # a fault of a tool is for whoever runs Bosun, and must not end the turn
            logging.getLogger("bosun.turn").exception("tool %s fails", tool.name)
            return "failed", FAULT

    async def _finish(self, turn: Turn, progress: CallProgress, status: CallEnd, output: str) -> None:
        if await self._log.finish_tool(turn, progress.call, status, output):
            self._emit("tool.finished", turn, {"name": progress.call.name, "status": status})

    def _emit(self, step: str, turn: Turn, fields: Mapping[str, JSON]) -> None:
        self._steps.emit(Step(step, turn.conversation_id, fields))


def _error(what: object) -> str:
    """Say to the model, in a sentence, that a call did not succeed."""
    return storable(f"Error: {str(what).rstrip('.')}.")
