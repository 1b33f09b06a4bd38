"""Streamed tool calls: however the pieces are cut, they are the same calls; pieces that are none are an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosun.log.messages import ProposedCall
from bosun.model.tool_deltas import BrokenDeltas, CallDeltas

NAMES = st.text(alphabet="abcdefgh_", min_size=1, max_size=12)
TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[ProposedCall], list[tuple[int, str | None, str | None]]]:
    """Draw calls, and their pieces cut anywhere, those of different calls mixed in any way."""
    calls = draw(st.lists(st.builds(ProposedCall, name=NAMES, arguments=TEXTS), min_size=1, max_size=4))
    waiting: list[list[tuple[int, str | None, str | None]]] = []
    for index, call in enumerate(calls):
        pieces: list[tuple[int, str | None, str | None]] = [(index, each, None) for each in cut(draw, call.name)]
        pieces += [(index, None, each) for each in cut(draw, call.arguments)]
        if draw(st.booleans()):  # most providers send the whole name with the first piece of the arguments
            pieces = [(index, call.name, ""), *(piece for piece in pieces if piece[1] is None)]
        waiting.append(pieces)
    mixed = []
    while any(waiting):
        index = draw(st.sampled_from([number for number, pieces in enumerate(waiting) if pieces]))
        mixed.append(waiting[index].pop(0))
    return calls, mixed


def cut(draw: st.DrawFn, text: str) -> list[str]:
    """Cut a text at any places; pieces may be empty."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(streams(), st.sampled_from(["tool_calls", "stop", "function_call"]))
def test_pieces_cut_anywhere_are_the_same_calls(
    stream: tuple[list[ProposedCall], list[tuple[int, str | None, str | None]]], finish_reason: str
) -> None:
    """By index, in whatever order they come; several servers end such an answer with another reason."""
    calls, pieces = stream
    deltas = CallDeltas()
    for piece in pieces:
        deltas.add(*piece)
    assert deltas.finish(finish_reason) == tuple(calls)


def test_an_answer_without_pieces_asks_for_no_calls() -> None:
    """Words alone, complete or cut off."""
    assert CallDeltas().finish("stop") == CallDeltas().finish("length") == ()


def test_what_cannot_be_stored_is_left_out() -> None:
    """As of words."""
    deltas = CallDeltas()
    deltas.add(0, "lo\0ok", '{"at": "\0\ud800"}')
    assert deltas.finish("tool_calls") == (ProposedCall(name="look", arguments='{"at": "?"}'),)


@pytest.mark.parametrize(
    ("index", "name", "arguments"),
    [
        (None, "look", ""),
        ("0", "look", ""),
        (-1, "look", ""),
        (True, "look", ""),
        (0, 7, ""),
        (0, "look", {"at": 1}),
    ],
)
def test_a_piece_that_is_none_is_refused(index: object, name: object, arguments: object) -> None:
    """The client library does not check what it parsed."""
    with pytest.raises(BrokenDeltas):
        CallDeltas().add(index, name, arguments)


@pytest.mark.parametrize("name", [None, "", " \n"])
def test_a_call_without_a_name_is_refused(name: str | None) -> None:
    """Nobody could say what it asks for."""
    deltas = CallDeltas()
    deltas.add(0, name, "{}")
    with pytest.raises(BrokenDeltas, match="no name"):
        deltas.finish("tool_calls")


def test_an_answer_that_announces_calls_and_has_none_is_refused() -> None:
    """They were lost on the way."""
    with pytest.raises(BrokenDeltas, match="has none"):
        CallDeltas().finish("tool_calls")


def test_an_answer_that_was_cut_off_within_its_calls_is_refused() -> None:
    """Half of what was meant is never done."""
    deltas = CallDeltas()
    deltas.add(0, "look", "{}")
    with pytest.raises(BrokenDeltas, match="cut off"):
        deltas.finish("length")
