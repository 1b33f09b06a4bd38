"""The reporting view: what people see and how turns went, from the rows of the log."""

from __future__ import annotations

import pytest
from conftest import START, HandClock

from bosun.ids import derive
from bosun.log.events import TokenUsage
from bosun.log.messages import ConversationRecord, InboundMessage, ProposedCall
from bosun.log.projection import conversation_view, event_view
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog

pytestmark = pytest.mark.asyncio


async def test_a_conversation_is_told_in_the_logs_order(
    log: ConversationLog, reader: ConversationReader, clock: HandClock
) -> None:
    """An answer, a failure, and a turn that is still open."""
    await log.open_conversation(ConversationRecord(id="web:c", account_id="standard", actor_id="morgan"))
    usage = {"agent": TokenUsage(input_tokens=9, output_tokens=2, cached_input_tokens=1)}
    for key in ("1", "2", "3"):
        said = InboundMessage(id=key, actor_id="morgan", author="Morgan", text=f"text {key}", received_at=START)
        await log.accept_message("web:c", said)
        turn = await log.start_turn("web:c", [said])
        clock.advance(2)
        if key == "1":
            await log.commit_reply(turn, "On Friday.", usage)
        elif key == "2":
            await log.commit_failure(turn, "timeout", "Too late.")
    conversation = await reader.conversation("web:c")
    assert conversation is not None
    view = conversation_view(conversation, await reader.events("web:c"))
    turns = [log._ids.derive("web:c", "turn", ordinal) for ordinal in (1, 2, 3)]
    assert [(m["role"], m["kind"], m["author"], m["text"], m["turnId"], m["createdAt"]) for m in view["messages"]] == [
        ("user", "message", "Morgan", "text 1", turns[0], "2030-01-15T12:00:00Z"),
        ("assistant", "answer", "Bosun", "On Friday.", turns[0], "2030-01-15T12:00:02Z"),
        ("user", "message", "Morgan", "text 2", turns[1], "2030-01-15T12:00:02Z"),
        ("assistant", "error", "Bosun", "Too late.", turns[1], "2030-01-15T12:00:04Z"),
        ("user", "message", "Morgan", "text 3", None, "2030-01-15T12:00:04Z"),
    ]
    assert view["turns"] == [
        {
            "id": turns[0],
            "status": "succeeded",
            "error": None,
            "routing": None,
            "toolCalls": [],
            "guardianReviews": [],
            "compactions": [],
            "pauses": 0,
            "startedAt": "2030-01-15T12:00:00Z",
            "endedAt": "2030-01-15T12:00:02Z",
            "usage": {"agent": {"inputTokens": 9, "outputTokens": 2, "cachedInputTokens": 1}},
        },
        {
            "id": turns[1],
            "status": "failed",
            "error": "timeout",
            "routing": None,
            "toolCalls": [],
            "guardianReviews": [],
            "compactions": [],
            "pauses": 0,
            "startedAt": "2030-01-15T12:00:02Z",
            "endedAt": "2030-01-15T12:00:04Z",
            "usage": {},
        },
        {
            "id": turns[2],
            "status": "started",
            "error": None,
            "routing": None,
            "toolCalls": [],
            "guardianReviews": [],
            "compactions": [],
            "pauses": 0,
            "startedAt": "2030-01-15T12:00:04Z",
            "endedAt": None,
            "usage": {},
        },
    ]
    assert len({message["id"] for message in view["messages"]}) == 5


async def test_a_call_is_told_with_its_review_and_its_end(log: ConversationLog, reader: ConversationReader) -> None:
    """In each state that it can be in: begun or not, made, refused, and asked for in words that are no JSON."""
    await log.open_conversation(ConversationRecord(id="web:c", account_id="standard", actor_id="morgan"))
    said = InboundMessage(id="1", actor_id="morgan", author="Morgan", text="Look.", received_at=START)
    turn = await log.start_turn("web:c", [said])
    asked = [ProposedCall(name="look", arguments=text) for text in ('{"at": 1}', "{", "[NaN]", "")]
    made, broken, begun, waiting = await log.record_calls(turn, 1, "", asked)
    await log.record_review(turn, made, effect="read", decision="allow", risk="low", reason="it only reads", by="rule")
    await log.start_tool(turn, made, {"at": 1, "times": 1})
    await log.finish_tool(turn, made, "succeeded", "Seen.")
    await log.finish_tool(turn, broken, "failed", "Error: no.")
    await log.start_tool(turn, begun, {})
    conversation = await reader.conversation("web:c")
    assert conversation is not None
    (view,) = conversation_view(conversation, await reader.events("web:c"))["turns"]
    assert view["toolCalls"] == [
        {
            "id": derive(turn.id, "tool_call", 1),
            "name": "look",
            "status": "succeeded",
            "input": {"at": 1, "times": 1},
            "output": "Seen.",
        },
        {"id": broken.id, "name": "look", "status": "failed", "input": "{", "output": "Error: no."},
        {"id": begun.id, "name": "look", "status": "started", "input": {}, "output": None},
        {"id": waiting.id, "name": "look", "status": "started", "input": {}, "output": None},
    ]
    assert view["guardianReviews"] == [
        {
            "callId": made.id,
            "tool": "look",
            "effect": "read",
            "decision": "allow",
            "risk": "low",
            "reason": "it only reads",
            "by": "rule",
        }
    ]


async def test_a_row_is_shown_under_the_apis_names(log: ConversationLog, reader: ConversationReader) -> None:
    """Sequence, type, time and data."""
    await log.open_conversation(ConversationRecord(id="web:c", account_id="standard", actor_id="morgan"))
    await log.set_title("web:c", "Budget", {"title": TokenUsage(input_tokens=1)})
    assert [event_view(event) for event in await reader.events("web:c")] == [
        {
            "seq": 1,
            "type": "title",
            "createdAt": "2030-01-15T12:00:00Z",
            "data": {
                "title": "Budget",
                "usage": {"title": {"inputTokens": 1, "outputTokens": 0, "cachedInputTokens": 0}},
            },
        }
    ]
