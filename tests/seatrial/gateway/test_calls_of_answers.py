"""The calls that an answer asks for are read alike from a whole answer and from a stream, however that cut them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.gateway.exchange import Aborted, Answer, Stream
from seatrial.gateway.tool_calls import CalledTool, calls_of

calls = st.lists(st.builds(CalledTool, st.text(min_size=1, max_size=5), st.text(max_size=12)), max_size=4)


def stream(*deltas: dict[str, Any]) -> Stream:
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events = [json.dumps(chunk) for chunk in [*chunks, {"choices": []}]]
    return Stream(status=200, headers={}, events=(*events, "[DONE]"))


def answer(body: Any) -> Answer:
    return Answer(status=200, headers={}, body=body)


@settings(derandomize=True, database=None, deadline=None)
@given(calls, st.data())
def test_the_pieces_of_a_stream_make_the_calls_in_their_order(made: list[CalledTool], data: st.DataObject) -> None:
    pieces: list[list[dict[str, Any]]] = []
    for index, call in enumerate(made):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(call.arguments)), max_size=3)))
        ends = [0, *cuts, len(call.arguments)]
        texts = [call.arguments[start:end] for start, end in pairwise(ends)]
        head = {"index": index, "id": "1", "type": "function", "function": {"name": call.name, "arguments": ""}}
        pieces.append([head, *({"index": index, "function": {"arguments": text}} for text in texts)])
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    while any(pieces):  # the calls may come side by side
        rest = data.draw(st.sampled_from([each for each in pieces if each]))
        deltas.append({"tool_calls": [rest.pop(0)]})
    assert calls_of(stream(*deltas)) == tuple(made)


@settings(derandomize=True, database=None, deadline=None)
@given(calls)
def test_a_whole_answer_has_its_calls_in_its_order(made: list[CalledTool]) -> None:
    functions = [{"function": {"name": call.name, "arguments": call.arguments}} for call in made]
    body = {"choices": [{"index": 0, "message": {"content": "words", "tool_calls": functions}}]}
    assert calls_of(answer(body)) == tuple(made)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["choices", "message", "delta", "tool_calls", "function", "index"]), inner)
    ),
    max_leaves=8,
)


@settings(derandomize=True, database=None, deadline=None)
@given(json_values)
def test_whatever_an_answer_holds_it_can_be_read(body: Any) -> None:
    assert all(isinstance(call.name, str) for call in calls_of(answer(body)))
    assert calls_of(Stream(status=200, headers={}, events=(json.dumps(body),))) is not None


def test_words_and_an_abort_call_nothing() -> None:
    assert calls_of(stream({"content": "call look_up"})) == ()
    assert calls_of(Aborted()) == ()
