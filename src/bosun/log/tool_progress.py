"""How far the tool calls of a turn have come, from the log alone: what a running turn goes by, after a crash too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bosun.log.events import (
    AssistantMessage,
    GuardianActionReviewed,
    Opaque,
    Payload,
    ToolExecutionStarted,
    ToolResult,
)
from bosun.log.messages import ToolCall

PROGRESS_TYPES = (AssistantMessage.type, GuardianActionReviewed.type, ToolExecutionStarted.type, ToolResult.type)


@dataclass(frozen=True, kw_only=True)
class CallProgress:
    """One call, and what is stored of it so far. `ordinal` is its place in the turn, from 1."""

    call: ToolCall
    ordinal: int
    review: GuardianActionReviewed | None = None
    started: bool = False
    result: ToolResult | None = None


@dataclass(frozen=True)
class ToolProgress:
    """The turn's answered requests, in order, each with its calls: none, where the answer was kept unsent."""

    answers: tuple[tuple[CallProgress, ...], ...] = ()

    @property
    def calls(self) -> tuple[CallProgress, ...]:
        """Every call of the turn, in order."""
        return tuple(call for answer in self.answers for call in answer)

    @property
    def unfinished(self) -> tuple[CallProgress, ...]:
        """The calls that have no result."""
        return tuple(call for call in self.calls if call.result is None)


def tool_progress(payloads: Iterable[Payload | Opaque]) -> ToolProgress:
    """Gather one turn's rows of `PROGRESS_TYPES`, given in the log's order."""
    answers: list[tuple[ToolCall, ...]] = []
    reviews: dict[str, GuardianActionReviewed] = {}
    started: set[str] = set()
    results: dict[str, ToolResult] = {}
    for payload in payloads:
        if isinstance(payload, AssistantMessage):
            answers.append(tuple(payload.tool_calls))
        elif isinstance(payload, GuardianActionReviewed):
            reviews[payload.call_id] = payload
        elif isinstance(payload, ToolExecutionStarted):
            started.add(payload.call_id)
        elif isinstance(payload, ToolResult):
            results[payload.call_id] = payload
    found = []
    ordinal = 0
    for calls in answers:
        progress = []
        for call in calls:
            ordinal += 1
            progress.append(
                CallProgress(
                    call=call,
                    ordinal=ordinal,
                    review=reviews.get(call.id),
                    started=call.id in started,
                    result=results.get(call.id),
                )
            )
        found.append(tuple(progress))
    return ToolProgress(tuple(found))
