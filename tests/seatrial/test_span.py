"""A span of time is a whole number with a unit, and nothing else is read as one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.cases.span import seconds_of

WORDS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@settings(derandomize=True, database=None, deadline=None)
@given(st.integers(min_value=1, max_value=500), st.sampled_from(sorted(WORDS)))
def test_a_span_is_read_as_the_calendar_library_counts_it(count: int, unit: str) -> None:
    assert timedelta(seconds=seconds_of(f"{count}{unit}")) == timedelta(**{WORDS[unit]: count})


@settings(derandomize=True, database=None, deadline=None)
@given(st.integers(min_value=1, max_value=10 * 365 * 86400))
def test_every_number_of_seconds_up_to_ten_years_comes_back(seconds: int) -> None:
    assert seconds_of(f"{seconds}s") == seconds


@settings(derandomize=True, database=None, deadline=None)
@given(st.text(alphabet="0123456789smhdwy .-+\n", max_size=6))
def test_only_digits_and_one_unit_are_a_span(text: str) -> None:
    meant = len(text) > 1 and text[-1] in WORDS and all("0" <= digit <= "9" for digit in text[:-1]) and int(text[:-1])
    if meant and int(text[:-1]) <= 500:
        assert seconds_of(text) > 0
    elif not meant:
        with pytest.raises(ValueError, match=r"span of time|moves no time"):
            seconds_of(text)


@pytest.mark.parametrize(
    ("written", "part"),
    [
        (7, "7 is no span of time: write a whole number with s, m, h, d or w"),
        ("7", "'7' is no span"),
        ("7 days", "no span"),
        ("1.5h", "no span"),
        ("-1d", "no span"),
        ("7D", "no span"),
        ("٧d", "no span"),
        ("0d", "moves no time"),
        ("3651d", "at most 3650d"),
        (None, "no span"),
    ],
)
def test_a_mistake_shows_what_was_written_and_what_can_be(written: Any, part: str) -> None:
    with pytest.raises(ValueError) as caught:
        seconds_of(written)
    assert part in str(caught.value)
