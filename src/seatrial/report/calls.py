"""Calls to the agent as a record keeps them."""

from __future__ import annotations

from typing import Any

from seatrial.conversation import Conversation
from seatrial.report.record import CallRecord, CheckRecord


def call_record(conversation: Conversation, checks: tuple[CheckRecord, ...] = ()) -> CallRecord:
    """Return one call with its checks."""
    return CallRecord(
        conversation_id=conversation.conversation_id,
        conversation=conversation.number,
        transcript=tuple((said.author, said.text) for said in conversation.transcript),
        statuses=tuple(turn.status for turn in conversation.turns),
        tool_calls=_tool_calls(conversation),
        title=conversation.title,
        steps=tuple(step.name for step in conversation.steps),
        checks=checks,
    )


def _tool_calls(conversation: Conversation) -> tuple[dict[str, Any], ...]:
    """Return every call of a tool, with the place in the transcript before which it happened.

    That is before the first reply of its turn: what a turn says comes of what it has called. A turn without a reply
    has called after all that was said.
    """
    places = {said.id: place for place, said in enumerate(conversation.transcript)}
    last = len(conversation.transcript)
    return tuple(
        {
            "name": call.name,
            "status": call.status,
            "input": call.input,
            "output": call.output,
            "before": min((places.get(reply.id, last) for reply in turn.replies), default=last),
        }
        for turn in conversation.turns
        for call in turn.tool_calls
    )
