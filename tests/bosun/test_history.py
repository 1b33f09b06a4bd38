"""What the model reads again, and how far a turn's calls have come: from the rows alone."""

from __future__ import annotations

import pytest
from conftest import START
from hypothesis import given
from hypothesis import strategies as st

from bosun.ids import derive
from bosun.log.events import AssistantMessage, Payload, Risk, ToolExecutionStarted, ToolResult, UserMessage
from bosun.log.history import NO_RESULT, history_of
from bosun.log.messages import ConversationRecord, HistoryMessage, InboundMessage, ProposedCall, ToolCall
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.log.tool_progress import tool_progress

LOOK = ProposedCall(name="look", arguments='{"at": 1}')


def call(key: str) -> ToolCall:
    """Return a stored call."""
    return ToolCall(id=key, name="look", arguments="{}")


def said(key: str) -> UserMessage:
    """Return a person's message in the stream."""
    return UserMessage(message_id=key, turn_id="t", author_id="morgan", author="Morgan", text=key)


def asks(*calls: ToolCall, text: str = "") -> AssistantMessage:
    """Return an answer."""
    return AssistantMessage(turn_id="t", text=text, tool_calls=list(calls))


def result(of: ToolCall) -> ToolResult:
    """Return a call's result."""
    return ToolResult(turn_id="t", call_id=of.id, name=of.name, status="succeeded", output=f"result of {of.id}")


def inbound(key: str) -> InboundMessage:
    """Return a message as a route makes it."""
    return InboundMessage(id=key, actor_id="morgan", author="Morgan", text=f"text {key}", received_at=START)


def test_results_follow_their_calls_and_what_came_between_follows_both() -> None:
    """A request in another order would be refused."""
    one, two = call("one"), call("two")
    rows = [said("first"), asks(one, two, text="I look."), said("second"), result(two), result(one), asks(text="Seen.")]
    assert history_of(rows) == (
        HistoryMessage(role="user", text="first", author="Morgan"),
        HistoryMessage(role="assistant", text="I look.", calls=(one, two)),
        HistoryMessage(role="tool", text="result of one", call_id="one"),
        HistoryMessage(role="tool", text="result of two", call_id="two"),
        HistoryMessage(role="user", text="second", author="Morgan"),
        HistoryMessage(role="assistant", text="Seen."),
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.booleans(), max_size=3)), max_size=6))
def test_every_call_has_its_result_right_behind_it(answers: list[tuple[int, list[bool]]]) -> None:
    """Also where the log has none."""
    rows: list[Payload] = []
    for number, (users, finished) in enumerate(answers):
        rows += [said(f"{number}-{user}") for user in range(users)]
        calls = [call(f"{number}-{place}") for place in range(len(finished))]
        rows.append(asks(*calls))
        rows += [result(each) for each, done in zip(calls, finished, strict=True) if done]
    stream = list(history_of(rows))
    while stream:
        message = stream.pop(0)
        assert message.role != "tool"
        for each in message.calls:
            answer = stream.pop(0)
            assert (answer.role, answer.call_id) == ("tool", each.id)
            assert answer.text in (f"result of {each.id}", NO_RESULT)


def test_progress_says_what_each_call_lacks() -> None:
    """In the turn's own order, counted through all its answers."""
    one, two, three = call("one"), call("two"), call("three")
    started = ToolExecutionStarted(turn_id="t", call_id="two", name="look", input={})
    progress = tool_progress([asks(one, two), result(one), started, asks(three), asks(text="Seen.")])
    assert [len(answer) for answer in progress.answers] == [2, 1, 0]
    assert [(each.call.id, each.ordinal, each.started) for each in progress.calls] == [
        ("one", 1, False),
        ("two", 2, True),
        ("three", 3, False),
    ]
    assert [each.call.id for each in progress.unfinished] == ["two", "three"]


@pytest.mark.asyncio
async def test_calls_are_named_by_their_place_in_the_turn(log: ConversationLog, reader: ConversationReader) -> None:
    """Not by the provider, and not by their answer."""
    await log.open_conversation(ConversationRecord(id="web:c", account_id="a", actor_id="morgan"))
    turn = await log.start_turn("web:c", [inbound("1")])
    first = await log.record_calls(turn, 1, "", [LOOK, LOOK])
    second = await log.record_calls(turn, 2, "", [LOOK])
    ids = [derive(turn.id, "tool_call", ordinal) for ordinal in (1, 2, 3)]
    assert [each.id for each in (*first, *second)] == ids
    assert [each.call.id for each in (await reader.tool_progress(turn)).calls] == ids


@pytest.mark.asyncio
async def test_nothing_of_a_call_is_written_twice(log: ConversationLog, reader: ConversationReader) -> None:
    """What was first stays: an attempt that lost its lease may still be writing."""
    await log.open_conversation(ConversationRecord(id="web:c", account_id="a", actor_id="morgan"))
    turn = await log.start_turn("web:c", [inbound("1")])
    (first,) = await log.record_calls(turn, 1, "I look.", [LOOK])
    other = ProposedCall(name="other", arguments="{}")
    assert await log.record_calls(turn, 1, "", [other, other]) == (first,)
    for new in (True, False):
        risk: Risk = "low" if new else "high"
        assert new is await log.record_review(
            turn, first, effect="read", decision="allow", risk=risk, reason="it only reads", by="rule"
        )
        assert new is await log.start_tool(turn, first, {"at": 1})
        assert new is await log.finish_tool(turn, first, "succeeded" if new else "timed_out", f"Seen {new}.")
    assert [event.payload.type for event in await reader.events("web:c")] == [
        *("turn_started", "user_message", "assistant_message"),
        *("guardian_action_reviewed", "tool_execution_started", "tool_result"),
    ]
    assert await reader.history("web:c") == (
        HistoryMessage(role="user", text="text 1", author="Morgan"),
        HistoryMessage(role="assistant", text="I look.", calls=(first,)),
        HistoryMessage(role="tool", text="Seen True.", call_id=first.id),
    )


@pytest.mark.asyncio
async def test_another_turns_calls_are_not_this_ones(log: ConversationLog, reader: ConversationReader) -> None:
    """Each turn counts its own."""
    await log.open_conversation(ConversationRecord(id="web:c", account_id="a", actor_id="morgan"))
    first = await log.start_turn("web:c", [inbound("1")])
    (made,) = await log.record_calls(first, 1, "", [LOOK])
    await log.finish_tool(first, made, "succeeded", "Seen.")
    await log.commit_reply(first, "It is there.")
    second = await log.start_turn("web:c", [inbound("2")])
    assert (await reader.tool_progress(second)).calls == ()
    (other,) = await log.record_calls(second, 1, "", [LOOK])
    assert other.id != made.id
    assert [each.call.id for each in (await reader.tool_progress(first)).calls] == [made.id]
