"""Making room: what is replaced, what the stream is then, and that what a person took back lives on nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosun.context.prompt import PromptMessage
from bosun.context.summarizing import LONGEST_LINE, MOST_LINES, tidy_summary
from bosun.context.window import message_tokens, request_tokens, text_tokens
from bosun.log.events import AssistantMessage, Compaction, Handoff, MessageUpdated, Payload, ToolResult, UserMessage
from bosun.log.history import Placed, Row, history_of, stream_of
from bosun.log.messages import ToolCall
from bosun.turn.compaction import cut_before, cut_within

CALL = ToolCall(id="call", name="look", arguments="{}")


def said(key: str, turn: str | None = "t") -> UserMessage:
    return UserMessage(message_id=key, turn_id=turn, author_id="morgan", author="Morgan", text=key)


def answers(text: str, turn: str = "t", *calls: ToolCall) -> AssistantMessage:
    return AssistantMessage(turn_id=turn, text=text, tool_calls=list(calls))


def result(call: ToolCall, turn: str = "t", output: str = "found") -> ToolResult:
    return ToolResult(turn_id=turn, call_id=call.id, name=call.name, status="succeeded", output=output)


def made(kind: type[Compaction] | type[Handoff], upto: int, turn: str = "t2", summary: str = "summary") -> Payload:
    return kind(turn_id=turn, upto=upto, summary=summary, replaced=1, tokens_before=9, tokens_after=5)


def changed(key: str, *, deleted: bool) -> MessageUpdated:
    return MessageUpdated(message_id=key, revision=1, text="" if deleted else f"{key}!", deleted=deleted)


def texts(rows: list[Payload]) -> list[str]:
    return [f"{message.role} {message.text}" for message in history_of(rows)]


def test_a_compaction_stands_for_what_is_older_and_a_handoff_for_the_turns_own_work_too() -> None:
    before: list[Payload] = [said("1"), answers("one"), said("2", "t2")]
    assert texts([*before, made(Compaction, 2)]) == ["summary summary", "user 2"]
    assert texts([*before, made(Compaction, 2), answers("two", "t2")]) == ["summary summary", "user 2", "assistant two"]
    work: list[Payload] = [*before, answers("", "t2", CALL), result(CALL, "t2"), made(Handoff, 5)]
    assert texts(work) == ["user 2", "summary summary"]
    assert texts([*work, answers("two", "t2")]) == ["user 2", "summary summary", "assistant two"]


def test_the_latest_replacement_counts() -> None:
    rows: list[Payload] = [said("1"), answers("one"), made(Compaction, 2), said("2", "t2"), answers("two", "t2")]
    rows += [said("3", "t3"), made(Compaction, 5, "t3", "all")]
    assert texts(rows) == ["summary all", "user 3"]


@pytest.mark.parametrize("deleted", [True, False])
def test_a_summary_of_what_was_taken_back_or_changed_since_does_not_count(deleted: bool) -> None:
    """The rows count again, as they are to be read now, or the summary before it that knew nothing of it."""
    rows: list[Payload] = [said("1"), answers("one"), made(Compaction, 2, "t2", "first"), said("2", "t2")]
    rows += [answers("two", "t2"), made(Compaction, 5, "t3", "second"), said("3", "t3")]
    assert texts(rows) == ["summary second", "user 3"]
    now = "(deleted)" if deleted else "2!"
    told = [*rows, changed("2", deleted=deleted)]
    assert texts(told) == ["summary first", f"user {now}", "assistant two", "user 3"]
    later: list[Payload] = [*told, made(Compaction, 5, "t3", "third")]
    assert texts(later) == ["summary third", "user 3"]
    assert texts([changed("2", deleted=deleted), *rows])[0] == "summary second"


def test_what_was_changed_after_a_summary_and_is_no_part_of_it_changes_nothing() -> None:
    rows: list[Payload] = [said("1"), answers("one"), made(Compaction, 2), said("2", "t2"), changed("2", deleted=True)]
    assert texts(rows) == ["summary summary", "user (deleted)"]


# what is cut


def stream(*rows: Payload) -> tuple[Placed, ...]:
    return stream_of(enumerate(rows, start=1))


def size_of(placed: tuple[Placed, ...]) -> int:
    return request_tokens([PromptMessage("user", each.message.text) for each in placed])


def test_the_newest_that_fits_stays() -> None:
    """Each exchange is about 40 tokens; one of three is to stay."""
    long = "x" * 42
    rows = [row for turn in "abc" for row in (said(f"{turn}{long}", turn), answers(long, turn))]
    there = stream(*rows, said("now", "t"))
    size = size_of(there)
    cut = cut_before(there, "t", size, size - 2 * 40 + 200)
    assert cut is not None
    assert ([placed.seq for placed in cut.replaced], cut.upto, cut.handoff) == ([1, 2, 3, 4], 4, False)
    everything = cut_before(there, "t", size, 0)
    assert everything is not None and everything.upto == 6


def test_nothing_is_cut_where_nothing_came_before_or_a_summary_alone() -> None:
    assert cut_before(stream(said("now")), "t", 1000, 0) is None
    only = stream(said("1", "a"), answers("one", "a"), made(Compaction, 2), said("now"))
    assert [placed.message.role for placed in only] == ["summary", "user"]
    assert cut_before(only, "t", 1000, 0) is None


def test_a_handoff_needs_work_of_the_turns_own() -> None:
    assert cut_within(stream(said("1", "a"), answers("one", "a"), said("now")), "t") is None
    working = stream(said("1", "a"), answers("one", "a"), said("now"), answers("", "t", CALL), result(CALL))
    cut = cut_within(working, "t")
    assert cut is not None
    assert (cut.upto, len(cut.replaced), cut.handoff) == (5, 4, True)
    assert [placed.message.text for placed in cut.told][:2] == ["now", "1"]


TURNS = st.lists(
    st.tuples(
        st.integers(1, 2),  # messages
        st.lists(st.integers(0, 2), max_size=3),  # answers with so many calls
        st.booleans(),  # a message overheard between a call and its result
    ),
    min_size=1,
    max_size=5,
)


def conversation(turns: list[tuple[int, list[int], bool]], words: int) -> list[Payload]:
    """Return the rows of turns; the last one has not answered."""
    rows: list[Payload] = []
    for number, (messages, batches, overheard) in enumerate(turns):
        turn = f"t{number}"
        rows += [said(f"{turn}-{each} {'w' * words}", turn) for each in range(messages)]
        for place, count in enumerate(batches):
            calls = [ToolCall(id=f"{turn}-{place}-{n}", name="look", arguments="{}") for n in range(count)]
            rows.append(answers("I look.", turn, *calls))
            if overheard:
                rows.append(said(f"{turn}-{place} aside", None))
            rows += [result(call, turn, "r" * words) for call in calls]
        if number < len(turns) - 1:
            rows.append(answers(f"done {number}", turn))
    return rows


@settings(derandomize=True, database=None, deadline=None, max_examples=300)
@given(turns=TURNS, words=st.integers(0, 80), wanted=st.integers(0, 400))
def test_whatever_is_replaced_the_stream_stays_whole(
    turns: list[tuple[int, list[int], bool]], words: int, wanted: int
) -> None:
    """Calls have their results, what is kept is as it was, and it ends: at last there is nothing to cut."""
    rows = conversation(turns, words)
    own = f"t{len(turns) - 1}"
    numbered: list[Row] = list(enumerate(rows, start=1))
    for _ in range(len(rows) + 2):
        before = stream_of(numbered)
        cut = cut_before(before, own, size_of(before), wanted) or cut_within(before, own)
        if cut is None:
            break
        kind = Handoff if cut.handoff else Compaction
        numbered.append((len(numbered) + 1, made(kind, cut.upto, own)))
        after = stream_of(numbered)
        assert cut.handoff or after[0].message.role == "summary"
        kept = [placed for placed in before if placed not in cut.replaced]
        assert [placed for placed in after if placed.message.role != "summary"] == kept
        asked = [placed for placed in before if placed.turn_id == own and placed.message.role == "user"]
        assert [placed for placed in after if placed in asked] == asked
        waiting = [placed.message for placed in after]
        while waiting:
            message = waiting.pop(0)
            assert message.role != "tool"
            for call in message.calls:
                assert waiting.pop(0).call_id == call.id
    else:
        raise AssertionError("it never ends")
    assert [message.role for message in history_of([row for _, row in numbered])].count("summary") <= 1


# tokens and words


@given(st.text(max_size=200))
def test_an_estimate_grows_with_the_text(text: str) -> None:
    assert text_tokens(text) <= text_tokens(text + "x") <= text_tokens(text) + 1
    assert message_tokens(PromptMessage("user", text)) == text_tokens(text) + 6


@given(st.text(max_size=6000))
def test_a_summary_is_bounded(text: str) -> None:
    lines = tidy_summary(text).split("\n")
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= LONGEST_LINE for line in lines)
    assert lines == [""] or all(line.strip() for line in lines)


def test_a_summary_is_told_sentence_by_sentence() -> None:
    said = "\n - The launch  is on Friday.\n\n* Morgan leads. Before: Eve asked.\n"
    assert tidy_summary(said) == "The launch is on Friday.\nMorgan leads.\nEve asked."
