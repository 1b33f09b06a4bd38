"""A miss says the path, the line, and shows both sides so that eyes can tell them apart."""

from __future__ import annotations

import pytest

from seatrial.gateway.difference import distance, first_difference
from seatrial.gateway.key import JSON


@pytest.mark.parametrize(
    ("recorded", "asked", "said"),
    [
        ({"a": "x"}, {"a": "y"}, "a: recorded 'x', asked 'y'"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "a.b[1]: recorded 2, asked 3"),
        ({"a": [1, {"b": 2}]}, {"a": [1]}, 'a[1]: recorded {"b": 2}, asked nothing'),
        ({"a": []}, {"a": ["x"]}, "a[0]: recorded nothing, asked 'x'"),
        ({"a": 1}, {"a": 1, "seed": 7}, "seed: recorded nothing, asked 7"),
        ({"a": 1, "b": 2}, {"a": 1}, "b: recorded 2, asked nothing"),
        ({"a": 1}, {"a": "1"}, "a: recorded 1, asked '1'"),
        ({"a": 1}, {"a": True}, "a: recorded 1, asked true"),
        ({"a": None}, {"a": {}}, "a: recorded null, asked {}"),
        ([1], {"a": 1}, 'body: recorded [1], asked {"a": 1}'),
        ({"a": "1\n2\n3"}, {"a": "1\n2\nthree"}, "a line 3: recorded '3', asked 'three'"),
        ({"a": "1"}, {"a": "1\n2"}, "a line 2: recorded nothing, asked '2'"),
        ({"a": "1\n2\n"}, {"a": "1\n2"}, "a line 3: recorded '', asked nothing"),
        ({"a": "one two"}, {"a": "one  two"}, "a: recorded 'one·two', asked 'one··two'"),
        ({"a": "x"}, {"a": "x\t"}, "a: recorded 'x', asked 'x\\t'"),
        ({"a": "x\r\ny"}, {"a": "x\ny"}, "a line 1: recorded 'x\\r', asked 'x'"),
        ({"a": "\\n"}, {"a": "\\r"}, "a: recorded '\\\\n', asked '\\\\r'"),
        (
            {"a": "no break"},
            {"a": "no\u00a0break"},
            "a: recorded 'no·break', asked 'no\\xa0break' (first differing character: U+0020, asked U+00A0)",
        ),
        (
            {"a": "zero"},
            {"a": "ze\u200bro"},
            "a: recorded 'zero', asked 'ze\\u200bro' (first differing character: U+0072, asked U+200B)",
        ),
        (
            {"a": "é"},
            {"a": "e\u0301"},
            "a: recorded '\\xe9', asked 'e\\u0301' (first differing character: U+00E9, asked U+0065)",
        ),
        ({"a": "а"}, {"a": "a"}, "a: recorded 'а', asked 'a' (first differing character: U+0430, asked U+0061)"),
    ],
)  # fmt: skip
def test_the_first_difference_is_said_so_that_it_can_be_seen(recorded: JSON, asked: JSON, said: str) -> None:
    assert str(first_difference(recorded, asked)) == said


def test_equal_requests_do_not_differ() -> None:
    assert first_difference({"a": 1.0, "b": [0.5]}, {"b": [5e-1], "a": 1}) is None


def test_a_long_line_is_shown_around_the_difference() -> None:
    found = first_difference("a" * 500 + "X" + "b" * 500, "a" * 500 + "Y" + "b" * 500)
    assert found is not None and found.recorded is not None
    assert found.recorded == "'…" + "a" * 50 + "X" + "b" * 49 + "…'"
    end = first_difference("a" * 500 + "X", "a" * 500 + "Y")
    assert end is not None and end.recorded == "'…" + "a" * 99 + "X'"


def test_distance_counts_what_would_have_to_change() -> None:
    assert distance({"a": "same"}, {"a": "same"}) == 0
    assert distance({"a": "one word"}, {"a": "one sword"}) == 1
    assert distance({"a": "one word"}, {"a": "one sword"}) < distance({"a": "one word"}, {"a": "another"})
    assert distance(["x", "y"], ["x"]) == 3
    assert distance({"a": 1}, {}) == 1
    assert distance("aa", "aaa") == 1
