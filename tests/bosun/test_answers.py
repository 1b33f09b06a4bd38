"""What a model's words mean: an answer, a silence, nothing; and how a title is tidied."""

from __future__ import annotations

import pytest

from bosun.model.titles import tidy_title
from bosun.turn.lifecycle import Answered, Silent, read_answer


@pytest.mark.parametrize("text", ["[[NO_REPLY]]", "  [[NO_REPLY]]\n"])
def test_the_sentinel_alone_is_a_silence(text: str) -> None:
    """Around it, space does not count."""
    assert read_answer(text) == Silent()


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_answer_is_no_silence(text: str) -> None:
    """Silence is explicit, never inferred."""
    assert read_answer(text) is None


def test_the_sentinel_among_words_is_not_shown() -> None:
    """The words are the answer."""
    assert read_answer("Done. [[NO_REPLY]]") == Answered("Done.")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('"Budget due Friday"\n', "Budget due Friday"),
        ("\n\n**Title: Budget by Friday.**", "Budget by Friday"),
        ("Projects:", "Projects"),
        ("Budget\nBecause you asked", "Budget"),
        ("  ", ""),
        ("x" * 100, "x" * 79 + "…"),
    ],
)
def test_a_title_is_one_short_line_without_marks(text: str, title: str) -> None:
    """Worked out by hand."""
    assert tidy_title(text) == title
