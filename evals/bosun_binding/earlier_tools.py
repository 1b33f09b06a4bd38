"""Tool calls of earlier turns: checked against the tools of the agent's plugins, and stored as a turn stores them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from bosun.log.messages import ProposedCall, Turn
from bosun.log.store import ConversationLog
from bosun.model.guardian import Decision, by_rule, risk_of
from bosun.plugins import PluginHost, load_plugins
from bosun.tools import AnyTool, ToolFailed
from seatrial.history import HistoryTool
from seatrial.nearest import did_you_mean


class EarlierTools:
    """The tools of some plugins, as history may say that they were called."""

    def __init__(self, plugins: Iterable[str], host: PluginHost) -> None:
        self._tools: dict[str, AnyTool] = {
            tool.name: tool for plugin in load_plugins(tuple(plugins), host) for tool in plugin.tools
        }

    def check(self, name: str, input: Mapping[str, Any]) -> tuple[str, ...]:
        """Return every mistake in an earlier call, in words: Bosun would never have made it like that."""
        if name not in self._tools:
            offered = ", ".join(sorted(self._tools)) or "none"
            hint = did_you_mean(name, self._tools) or f"; its tools are: {offered}"
            return (f"the agent so composed has no tool '{name}'{hint}",)
        try:
            self._tools[name].parse(json.dumps(dict(input)))
        except ToolFailed as error:
            return (f"'{name}' could not have been called so: {error}",)
        return ()

    async def store(self, log: ConversationLog, turn: Turn, calls: Iterable[HistoryTool]) -> None:
        """Store the calls of one turn, each as the answer to a model request of its own, as made and done.

        What Bosun's guardian has no rule for was allowed: otherwise it would not have been made.
        """
        for number, earlier in enumerate(calls, start=1):
            tool = self._tools[earlier.name]
            proposed = ProposedCall(name=earlier.name, arguments=json.dumps(dict(earlier.input), ensure_ascii=False))
            (call,) = await log.record_calls(turn, number, "", [proposed])
            decision = by_rule(tool.effect, tool.touches)
            decision = decision or Decision("allow", risk_of(tool.effect), "it was made", "rule")
            await log.record_review(
                turn,
                call,
                effect=tool.effect,
                decision=decision.decision,
                risk=decision.risk,
                reason=decision.reason,
                by=decision.by,
            )
            await log.start_tool(turn, call, earlier.input)
            await log.finish_tool(turn, call, "succeeded", earlier.output)
