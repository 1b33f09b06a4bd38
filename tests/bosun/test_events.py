"""Rows of the log are typed: unknown types are kept, corrupt ones are an error that says where."""

from __future__ import annotations

import pytest

from bosun.log.events import (
    KNOWN,
    AssistantMessage,
    CorruptEvent,
    MessageHandled,
    Opaque,
    Title,
    TokenUsage,
    TurnFailed,
    decode,
)
from bosun.log.messages import ToolCall


def test_a_known_row_becomes_its_payload() -> None:
    """Stored under the fields' own names."""
    stored = {"turn_id": "turn:a", "kind": "timeout", "usage": {"agent": {"input_tokens": 3, "output_tokens": 0}}}
    expected = TurnFailed(turn_id="turn:a", kind="timeout", usage={"agent": TokenUsage(input_tokens=3)})
    assert decode("web:c", 7, "turn_failed", 1, stored) == expected


def test_an_answer_that_was_stored_before_there_were_tools_asks_for_no_calls() -> None:
    """Rows are never rewritten."""
    expected = AssistantMessage(turn_id="turn:a", text="On Friday.", tool_calls=[])
    assert decode("web:c", 7, "assistant_message", 1, {"turn_id": "turn:a", "text": "On Friday."}) == expected


def test_an_answer_with_calls_is_read_as_it_was_stored() -> None:
    """The arguments stay the text that the model wrote."""
    call = ToolCall(id="tool_call:a", name="look", arguments='{"at": 1')
    answer = AssistantMessage(turn_id="turn:a", text="", tool_calls=[call])
    assert decode("web:c", 7, "assistant_message", 1, answer.model_dump(mode="json", by_alias=False)) == answer
    assert answer.model_dump(by_alias=True)["toolCalls"] == [
        {"id": "tool_call:a", "name": "look", "arguments": '{"at": 1'}
    ]


def test_a_row_of_an_unknown_type_is_kept_as_it_is() -> None:
    """A later Bosun's rows do not stop an earlier one."""
    assert decode("web:c", 7, "watch_fired", 9, {"a": [1]}) == Opaque(type="watch_fired", data={"a": [1]})


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ({"message_id": "m"}, "turn_id: Field required"),
        ({"message_id": 1, "turn_id": "t"}, "message_id: Input should be a valid string"),
        ({"message_id": "m", "turn_id": "t", "more": 1}, "more: Extra inputs"),
        ({"messageId": "m", "turnId": "t"}, "message_id: Field required"),
        (["m"], "payload: Input should be a valid dictionary"),
    ],
)
def test_a_corrupt_row_of_a_known_type_fails_and_says_where(stored: object, problem: str) -> None:
    """Conversation, sequence number, type and field."""
    with pytest.raises(
        CorruptEvent, match=rf"event 7 \(message_handled\) of conversation 'web:c' is corrupt.*{problem}"
    ):
        decode("web:c", 7, "message_handled", 1, stored)


def test_a_payload_of_another_version_is_not_guessed_at() -> None:
    """Both versions are named."""
    with pytest.raises(CorruptEvent, match="version 2, this Bosun reads 1"):
        decode("web:c", 7, "message_handled", 2, {"message_id": "m", "turn_id": "t"})


def test_what_is_stored_and_what_is_reported_differ_in_names_only() -> None:
    """Role names are data and keep their form."""
    title = Title(title="Budget", usage={"reply_policy": TokenUsage(input_tokens=1)})
    assert title.model_dump(by_alias=False)["usage"] == {
        "reply_policy": {"input_tokens": 1, "output_tokens": 0, "cached_input_tokens": 0}
    }
    assert title.model_dump(by_alias=True)["usage"] == {
        "reply_policy": {"inputTokens": 1, "outputTokens": 0, "cachedInputTokens": 0}
    }


def test_every_type_is_known_by_its_own_name() -> None:
    """The table is complete and has no second name for one type."""
    assert KNOWN["message_handled"] is MessageHandled
    assert set(KNOWN) == {
        "message",
        "message_updated",
        "reply_decided",
        "message_handled",
        "user_message",
        "assistant_message",
        "guardian_action_reviewed",
        "tool_execution_started",
        "tool_result",
        "turn_started",
        "turn_routed",
        "turn_context",
        "compaction",
        "handoff",
        "delivery_started",
        "turn_paused",
        "turn_completed",
        "turn_failed",
        "title",
    }
