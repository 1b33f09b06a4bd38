"""What a request's tools become: a schema that stands by itself, an example, a choice."""

from __future__ import annotations

from typing import Any

import pytest

from seatrial.model_server.request import BadRequest
from seatrial.model_server.schema import answer_schema
from seatrial.model_server.tools import Example, choice_of, tools_of


def function(name: str, parameters: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def parameters_of(given: dict[str, Any]) -> dict[str, Any]:
    (tool,) = tools_of({"tools": [function("t", given)]})
    return tool.parameters


LOOK = function("look", {"type": "object", "properties": {"q": {"type": "string", "maxLength": 9}}, "required": ["q"]})
WAIT = function("wait")


def test_the_schema_is_one_of_the_calls_and_last_a_reply() -> None:
    look = {
        "type": "object",
        "properties": {
            "tool": {"const": "look"},
            "args": {
                "type": "object",
                "properties": {"q": {"type": "string", "maxLength": 9}},
                "required": ["q"],
                "additionalProperties": False,
            },
        },
        "required": ["tool", "args"],
        "additionalProperties": False,
    }
    wait = {
        "type": "object",
        "properties": {
            "tool": {"const": "wait"},
            "args": {"type": "object", "properties": {}, "additionalProperties": False},
        },
        "required": ["tool", "args"],
        "additionalProperties": False,
    }
    reply = {
        "type": "object",
        "properties": {"reply": {"type": "string", "maxLength": 1200}},
        "required": ["reply"],
        "additionalProperties": False,
    }
    assert answer_schema(choice_of({"tools": [LOOK, WAIT]})) == {"oneOf": [look, wait, reply]}
    assert answer_schema(choice_of({"tools": [LOOK, WAIT], "tool_choice": "required"})) == {"oneOf": [look, wait]}


@pytest.mark.parametrize(
    ("body", "names", "reply"),
    [
        ({}, [], True),
        ({"tools": []}, [], True),
        ({"tools": None, "tool_choice": "auto"}, [], True),
        ({"tools": [LOOK, WAIT]}, ["look", "wait"], True),
        ({"tools": [LOOK, WAIT], "tool_choice": "auto"}, ["look", "wait"], True),
        ({"tools": [LOOK, WAIT], "tool_choice": "none"}, [], True),
        ({"tools": [LOOK, WAIT], "tool_choice": "required"}, ["look", "wait"], False),
        ({"tools": [LOOK, WAIT], "tool_choice": {"type": "function", "function": {"name": "wait"}}}, ["wait"], False),
    ],
)
def test_the_choice_is_what_tools_and_tool_choice_leave(body: dict[str, Any], names: list[str], reply: bool) -> None:
    choice = choice_of(body)
    assert ([tool.name for tool in choice.tools], choice.reply) == (names, reply)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"tools": {}}, "'tools' is not a list"),
        ({"tools": [{"type": "retrieval"}]}, "not a function with a name"),
        ({"tools": [function("")]}, "not a function with a name"),
        ({"tools": [LOOK, LOOK]}, "'look' more than once"),
        ({"tools": [function("t", {"type": "string"})]}, "'t' are not the schema of an object"),
        ({"tools": [LOOK], "tool_choice": {"type": "function", "function": {"name": "go"}}}, "does not fit .*: look"),
        ({"tool_choice": "required"}, "does not fit .*: none"),
        ({"tools": [function("t", {"x-example": {"request": "a", "reply": "b"}})]}, "needs request, arguments, result"),
        ({"tools": [function("t", {"$ref": "#/$defs/no"})]}, "'#/\\$defs/no', which is not there"),
        ({"tools": [function("t", {"properties": {"a": {"$ref": "http://a.example"}}})]}, "which is not there"),
        ({"tools": [function("t", {"properties": {"a": {"$ref": "#/properties/a"}}})]}, "refer to themselves"),
    ],
)
def test_tools_that_cannot_be_served_are_refused_by_name(body: dict[str, Any], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        choice_of(body)


def test_texts_without_a_limit_of_their_own_get_one() -> None:
    properties = {
        "free": {"type": "string"},
        "maybe": {"type": ["string", "null"]},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "many": {"type": "array", "items": {"type": "string"}},
        "number": {"type": "integer"},
    }
    assert parameters_of({"type": "object", "properties": properties})["properties"] == {
        "free": {"type": "string", "maxLength": 300},
        "maybe": {"type": ["string", "null"], "maxLength": 300},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "many": {"type": "array", "items": {"type": "string", "maxLength": 300}},
        "number": {"type": "integer"},
    }


def test_references_are_resolved_and_remarks_left_out_but_not_parameters_of_such_names() -> None:
    given = {
        "title": "Args",
        "$defs": {"Day": {"title": "Day", "enum": ["mon", "tue"]}},
        "properties": {"title": {"$ref": "#/$defs/Day", "description": "when"}, "default": {"type": "integer"}},
        "required": ["title"],
        "examples": [{"title": "mon"}],
    }
    assert parameters_of(given) == {
        "type": "object",
        "properties": {"title": {"enum": ["mon", "tue"]}, "default": {"type": "integer"}},
        "required": ["title"],
        "additionalProperties": False,
    }


def test_an_example_is_read_with_its_result_as_text() -> None:
    use = {"request": "Where is Ada?", "arguments": {"who": "Ada"}, "result": {"room": 3}, "reply": "In room 3."}
    (tool,) = tools_of({"tools": [function("find", {"x-example": use, "examples": [{"who": "Bo"}]})]})
    assert tool.example == Example("Where is Ada?", {"who": "Ada"}, '{"room":3}', "In room 3.")
    assert tool.arguments == {"who": "Bo"}
