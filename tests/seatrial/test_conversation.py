"""A call shows what it did itself: of turns that were there before, only what came to them since."""

from __future__ import annotations

from seatrial.conversation import CallStatus, ConversationState, Reply, Said, ToolCall, Turn, TurnStatus


def reply(number: int, turn: str) -> Reply:
    return Reply(f"r{number}", f"answer {number}", "answer", turn)


def call(number: int, status: CallStatus = "succeeded") -> ToolCall:
    return ToolCall(f"c{number}", "look", status, {"query": str(number)}, None if status == "started" else "found")


def turn(name: str, status: TurnStatus, replies: list[Reply], calls: list[ToolCall]) -> Turn:
    return Turn(name, status, tuple(replies), tuple(calls))


def state(*turns: Turn) -> ConversationState:
    replies = tuple(reply for turn in turns for reply in turn.replies)
    said = tuple(Said(reply.id, "agent", reply.text) for reply in replies)
    return ConversationState("c", None, replies, turns, said)


def test_without_an_earlier_state_everything_is_new() -> None:
    now = state(turn("t1", "succeeded", [reply(1, "t1")], [call(1)]))
    assert now.after(None) == now


def test_a_turn_that_had_ended_is_left_out_with_its_calls_and_words() -> None:
    first = turn("t1", "succeeded", [reply(1, "t1")], [call(1)])
    second = turn("t2", "succeeded", [reply(2, "t2")], [call(2), call(3)])
    assert state(first, second).after(state(first)) == state(second)


def test_a_turn_that_was_open_shows_what_it_did_since() -> None:
    before = turn("t1", "started", [reply(1, "t1")], [call(1), call(2, "started")])
    now = turn("t1", "succeeded", [reply(1, "t1"), reply(2, "t1")], [call(1), call(2), call(3)])
    seen = state(now).after(state(before))
    assert seen.turns == (turn("t1", "succeeded", [reply(2, "t1")], [call(2), call(3)]),)
    assert [reply.id for reply in seen.replies] == ["r2"]
    assert [said.id for said in seen.transcript] == ["r2"]
