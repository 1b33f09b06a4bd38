"""Tools as data: what a model is told of them, and how what it writes is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from bosun.tool_arguments import DEEPEST, ArgumentsUnreadable, read_arguments
from bosun.tools import Example, Tool, ToolContext, ToolFailed

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)


class Place(BaseModel):
    """Where to look."""

    model_config = ConfigDict(extra="forbid")

    title: str
    rows: list[int] = Field(default=[], description="Which ones.")


class Look(BaseModel):
    """What to look at."""

    model_config = ConfigDict(extra="forbid")

    place: Place
    times: int = Field(default=1, ge=1)


async def look(context: ToolContext, arguments: Look) -> str:
    """Say what is seen."""
    return f"Seen {arguments.times} times."


def tool(**changes: Any) -> Tool[Look]:
    """Return a tool whose example fits, with changes."""
    told = {
        "name": "look",
        "description": "Look at a place.",
        "arguments": Look,
        "effect": "read",
        "example": Example("Look there.", {"place": {"title": "there"}}, "Seen.", "I have seen it."),
        "run": look,
    }
    return Tool(**{**told, **changes})


def test_a_model_is_told_of_a_tool_with_its_worked_example() -> None:
    """As an OpenAI function tool; no word is in it that pydantic made up, and an argument may be named title."""
    assert tool().schema() == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look at a place.",
            "parameters": {
                "$defs": {
                    "Place": {
                        "additionalProperties": False,
                        "properties": {
                            "title": {"type": "string"},
                            "rows": {
                                "default": [],
                                "description": "Which ones.",
                                "items": {"type": "integer"},
                                "type": "array",
                            },
                        },
                        "required": ["title"],
                        "type": "object",
                    }
                },
                "additionalProperties": False,
                "properties": {
                    "place": {"$ref": "#/$defs/Place"},
                    "times": {"default": 1, "minimum": 1, "type": "integer"},
                },
                "required": ["place"],
                "type": "object",
                "examples": [{"place": {"title": "there"}}],
                "x-example": {
                    "request": "Look there.",
                    "arguments": {"place": {"title": "there"}},
                    "result": "Seen.",
                    "reply": "I have seen it.",
                },
            },
        },
    }


def test_arguments_that_fit_become_the_tools_own() -> None:
    """With what they leave out."""
    assert tool().parse('{"place": {"title": "there"}}') == Look(place=Place(title="there"), times=1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"place": {"title": "there"', "the arguments are not valid JSON"),
        ('["there"]', "the arguments are not a JSON object"),
        ("", "the arguments do not fit: place: Field required"),
        ('{"place": {"title": "there"}, "times": 0}', "the arguments do not fit: times: Input should be greater"),
        ('{"place": {"name": "there"}}', "place.title: Field required; place.name: Extra inputs"),
    ],
)
def test_arguments_that_do_not_fit_are_an_error_that_a_model_can_mend(text: str, problem: str) -> None:
    """It names what is wrong, and does not repeat what was written."""
    with pytest.raises(ToolFailed) as failed:
        tool().parse(text)
    assert problem in str(failed.value)
    assert "there" not in str(failed.value)


@pytest.mark.parametrize("name", ["", "look at", "look.at", "l" * 65, "lök"])
def test_a_name_that_no_model_can_call_is_refused(name: str) -> None:
    """Providers refuse the whole request for it."""
    with pytest.raises(ValueError, match="does not fit"):
        tool(name=name)


def test_an_example_that_does_not_fit_is_refused() -> None:
    """It would teach a mistake."""
    with pytest.raises(ValueError, match="example of the tool 'look' does not fit: place: Field required"):
        tool(example=Example("Look.", {}, "Seen.", "Seen."))


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_an_object_is_read_as_it_is_but_for_what_no_store_can_hold(value: dict[str, Any]) -> None:
    """NUL and lone surrogates."""
    text = json.dumps(value)
    read = read_arguments(text)
    kept = json.dumps(read)
    assert "\\u0000" not in kept.replace("\\\\", "")
    if "\\u0000" not in text and "\\ud" not in text:
        assert read == value


@given(st.text(max_size=60) | VALUES.map(json.dumps))
def test_any_text_is_an_object_or_refused(text: str) -> None:
    """What a model writes never breaks anything."""
    try:
        assert isinstance(read_arguments(text), dict)
    except ArgumentsUnreadable as error:
        assert str(error) in ("not valid JSON", "not a JSON object", "nested too deeply")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": NaN}', "not valid JSON"),
        ('{"a": -Infinity}', "not valid JSON"),
        ('{"a": 1e999}', "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"a":' * DEEPEST + "[]" + "}" * DEEPEST, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ("7", "not a JSON object"),
    ],
)
def test_what_cannot_be_kept_as_json_is_refused(text: str, problem: str) -> None:
    """Python's own reader takes more than JSON allows."""
    with pytest.raises(ArgumentsUnreadable, match=problem):
        read_arguments(text)


def test_no_text_at_all_means_no_arguments() -> None:
    """Several servers send none for a tool that takes none."""
    assert read_arguments("") == read_arguments(" \n") == {}
