"""The reporting view of a conversation: what people see and how turns went, from the log alone and in its order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from bosun.log.events import (
    AssistantMessage,
    Compaction,
    Event,
    GuardianActionReviewed,
    Handoff,
    MessageHandled,
    Payload,
    TokenUsage,
    ToolExecutionStarted,
    ToolResult,
    TurnCompleted,
    TurnFailed,
    TurnPaused,
    TurnRouted,
    TurnStarted,
    VisibleMessage,
)
from bosun.log.messages import ConversationSummary, ToolCall
from bosun.log.revisions import Revisions, revised, revisions_of
from bosun.tool_arguments import ArgumentsUnreadable, read_arguments


def summary_view(conversation: ConversationSummary) -> dict[str, Any]:
    """Return a conversation as it stands in a list."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "location": {"kind": conversation.location},
        "createdAt": instant(conversation.created_at),
    }


def conversation_view(conversation: ConversationSummary, events: Sequence[Event]) -> dict[str, Any]:
    """Return a conversation with its messages and turns.

    A message is its turn's as soon as the turn has handled it. A tool call is `started` until it has a result.
    """
    messages: list[dict[str, Any]] = []
    said: dict[str, dict[str, Any]] = {}
    turns: dict[str, dict[str, Any]] = {}
    calls: dict[str, dict[str, Any]] = {}
    revisions = revisions_of(event.payload for event in events)
    for event in events:
        payload = event.payload
        if isinstance(payload, VisibleMessage):
            messages.append(_message(payload, revisions, event.created_at))
            said.setdefault(payload.message_id, messages[-1])
        elif isinstance(payload, MessageHandled):
            if payload.message_id in said:
                said[payload.message_id]["turnId"] = payload.turn_id
        elif isinstance(payload, TurnStarted):
            turns[payload.turn_id] = _turn(payload, event.created_at)
        elif isinstance(payload, AssistantMessage):
            for call in payload.tool_calls:
                calls[call.id] = _call(call)
                turns[payload.turn_id]["toolCalls"].append(calls[call.id])
        elif isinstance(payload, GuardianActionReviewed):
            review = payload.model_dump(by_alias=True, exclude={"turn_id"})
            turns[payload.turn_id]["guardianReviews"].append(review)
        elif isinstance(payload, ToolExecutionStarted):
            calls[payload.call_id]["input"] = payload.input
        elif isinstance(payload, ToolResult):
            calls[payload.call_id].update(status=payload.status, output=payload.output)
        elif isinstance(payload, TurnRouted):
            turns[payload.turn_id]["routing"] = payload.model_dump(by_alias=True, exclude={"turn_id"})
        elif isinstance(payload, Compaction | Handoff):
            turns[payload.turn_id]["compactions"].append(_replaced(payload))
        elif isinstance(payload, TurnPaused):
            turns[payload.turn_id]["pauses"] += 1
        elif isinstance(payload, TurnCompleted):
            turns[payload.turn_id].update(_ending(payload.status, None, payload.usage, event.created_at))
        elif isinstance(payload, TurnFailed):
            turns[payload.turn_id].update(_ending("failed", payload.kind, payload.usage, event.created_at))
    return {**summary_view(conversation), "messages": messages, "turns": list(turns.values())}


def event_view(event: Event, revisions: Revisions = MappingProxyType({})) -> dict[str, Any]:
    """Return one row of the log; the data of a type that this Bosun does not know is not shown.

    What a person has taken back is not shown either; a changed message's row has its text of then.
    """
    payload = revised(event.payload, {key: change for key, change in revisions.items() if change.deleted})
    known = payload if isinstance(payload, Payload) else None
    return {
        "seq": event.seq,
        "type": payload.type,
        "createdAt": instant(event.created_at),
        "data": None if known is None else known.model_dump(mode="json", by_alias=True),
    }


def instant(at: datetime) -> str:
    """Write an instant as ISO 8601 in UTC, with a `Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _message(payload: VisibleMessage, revisions: Revisions, created_at: datetime) -> dict[str, Any]:
    change = revisions.get(payload.message_id)
    return {
        "id": payload.message_id,
        "role": payload.role,
        "kind": payload.kind,
        "author": payload.author,
        "text": revised(payload, revisions).text,
        "edited": change is not None and not change.deleted,
        "deleted": change is not None and change.deleted,
        "turnId": payload.turn_id,
        "createdAt": instant(created_at),
    }


def _turn(payload: TurnStarted, started_at: datetime) -> dict[str, Any]:
    return {
        "id": payload.turn_id,
        "status": "started",
        "error": None,
        "routing": None,
        "toolCalls": [],
        "guardianReviews": [],
        "compactions": [],
        "pauses": 0,
        "startedAt": instant(started_at),
        "endedAt": None,
        "usage": {},
    }


def _replaced(payload: Compaction | Handoff) -> dict[str, Any]:
    return {"kind": payload.type, **payload.model_dump(by_alias=True, exclude={"turn_id"})}


def _call(call: ToolCall) -> dict[str, Any]:
    """Show what the model wrote: its arguments, or the text where that is no JSON object."""
    arguments: object = call.arguments
    with suppress(ArgumentsUnreadable):
        arguments = read_arguments(call.arguments)
    return {"id": call.id, "name": call.name, "status": "started", "input": arguments, "output": None}


def _ending(status: str, error: str | None, usage: dict[str, TokenUsage], ended_at: datetime) -> dict[str, Any]:
    by_role = {role: each.model_dump(by_alias=True) for role, each in usage.items()}
    return {"status": status, "error": error, "endedAt": instant(ended_at), "usage": by_role}
