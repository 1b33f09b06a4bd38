"""A stream is its events: how its bytes are split, which line ends it uses and what it comments makes no difference."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from seatrial.gateway.events import DONE, EventDecoder, encode_event

rule = settings(derandomize=True, database=None, deadline=None, max_examples=300)

# What a recording can hold: no carriage return, not empty.
events = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1, max_size=30)
deltas = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
# Bytes that look like a stream, with everything that can go wrong between them.
fragments = st.sampled_from(
    [b"data: ", b"data:", b"data", b"\n", b"\r", b"\r\n", b": c", b"event: x", b"\xef\xbb\xbf", "ö🌍".encode(), b" "]
)
streams = st.lists(fragments, max_size=30).map(b"".join)


def decoded(chunks: list[bytes]) -> tuple[list[str], tuple[str, ...]]:
    decoder = EventDecoder()
    found = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [*found, *decoder.finish()], decoder.foreign


def split(data: bytes, choices: st.DataObject) -> list[bytes]:
    cuts = choices.draw(st.lists(st.integers(0, len(data)), max_size=12).map(sorted))
    edges = [0, *cuts, len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@rule
@given(streams, st.data())
def test_any_split_of_any_bytes_gives_the_same_events(data: bytes, choices: st.DataObject) -> None:
    whole = decoded([data])
    assert decoded(split(data, choices)) == whole
    assert decoded([data[i : i + 1] for i in range(len(data))]) == whole


@rule
@given(st.lists(events, max_size=6), st.data())
def test_encoded_events_are_read_back_whatever_the_line_ends_and_the_split(
    recorded: list[str], choices: st.DataObject
) -> None:
    wire = b"".join(map(encode_event, recorded))
    line_end = choices.draw(st.sampled_from([b"\n", b"\r", b"\r\n"]))
    wire = wire.replace(b"\n\n", b"\n: comment\n\n").replace(b"\n", line_end)
    assert decoded(split(wire, choices)) == (recorded, ())


@rule
@given(st.lists(deltas, max_size=6), st.sampled_from([b"\n", b"\r", b"\r\n"]), st.data())
def test_a_replayed_stream_gives_the_deltas_of_the_live_one_to_another_parser(
    parts: list[str], line_end: bytes, choices: st.DataObject
) -> None:
    payloads = [json.dumps({"delta": part}, ensure_ascii=choices.draw(st.booleans())) for part in parts]
    live = b"".join(f"data: {payload}".encode() + line_end * 2 for payload in [*payloads, DONE])
    recorded, _ = decoded(split(live, choices))
    replayed = b"".join(map(encode_event, recorded))
    seen = [event.data for event in SSEDecoder().iter_bytes(iter(split(replayed, choices)))]
    assert seen[-1] == DONE
    assert [json.loads(each)["delta"] for each in seen[:-1]] == parts


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", []),
        (b"data: a\n", []),
        (b"data: a", []),
        (b"\n\n\ndata: a\n\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b": ping\n\ndata: a\n: ping\n\n", ["a"]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"]),
        (b"data: a\n\ndata: [DONE]", ["a", "[DONE]"]),
        (b"data: a\n\ndata: [DONE]\n", ["a", "[DONE]"]),
        ("data: \u2028\u0085\x0b\n\n".encode(), ["\u2028\u0085\x0b"]),
    ],
)
def test_events_are_those_of_the_standard(data: bytes, expected: list[str]) -> None:
    assert decoded([data])[0] == expected


def test_fields_that_a_recording_cannot_hold_are_named() -> None:
    assert decoded([b"event: x\nid: 1\nevent: y\ndata: a\n\n"]) == (["a"], ("event", "id"))


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        EventDecoder().feed(b"data: \xff\n")
