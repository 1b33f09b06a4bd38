"""What the model gets to read: turns worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from seatrial.model_server.llama import request_for
from seatrial.model_server.prompt import turns_for
from seatrial.model_server.request import BadRequest
from seatrial.model_server.tools import Choice, Example, Tool, choice_of

NOTHING = Choice((), reply=True)
SCHEMA: Any = {"type": "object", "properties": {"q": {}, "deep": {}}, "required": ["q"]}
LOOK = Tool("look", "looks it up", SCHEMA, Example("Which tea?", {"q": "tea"}, "Green tea.", "You chose green tea."))
SYSTEM: dict[str, Any] = {"role": "system", "content": "Be brief."}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def call(number: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


TURNS = [
    {
        "role": "system",
        "content": "Be brief.\n\nAnswer with one JSON object: a tool call or a reply. Tools:\n"
        "look(q, deep?): looks it up",
    },
    user("Which tea?"),
    assistant('{"tool":"look","args":{"q":"tea"}}'),
    user("Tool result: Green tea."),
    assistant('{"reply":"You chose green tea."}'),
    user("Thank you!"),
    assistant('{"reply":"You are welcome."}'),
]


def test_tools_stand_in_the_system_message_and_examples_run_from_the_call_to_the_reply() -> None:
    assert turns_for([SYSTEM, user("Which cup?")], Choice((LOOK,), reply=True)) == [*TURNS, user("Which cup?")]


def test_calls_results_and_replies_of_the_conversation_have_the_form_of_the_examples() -> None:
    said = [
        SYSTEM,
        user("Hi"),
        assistant("Hello."),
        user("Which cup?"),
        {"role": "assistant", "content": None, "tool_calls": [call("1", "look", '{"q": "cup"}')]},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "The blue cup."}]},
    ]
    assert turns_for(said, Choice((LOOK,), reply=True))[len(TURNS) :] == [
        user("Hi"),
        assistant('{"reply":"Hello."}'),
        user("Which cup?"),
        assistant('{"tool":"look","args":{"q":"cup"}}'),
        user("Tool result: The blue cup."),
    ]


def test_neighbours_of_one_role_are_one_turn() -> None:
    calls = [call("1", "look", '{"q":"a"}'), call("2", "look", '{"q":"b"}')]
    said = [
        user("Both?"),
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "content": "A"},
        {"role": "tool", "content": "B"},
        user("Well?"),
    ]
    assert turns_for(said, NOTHING) == [
        user("Both?"),
        assistant('{"tool":"look","args":{"q":"a"}}\n{"tool":"look","args":{"q":"b"}}'),
        user("Tool result: A\nTool result: B\nWell?"),
    ]


def test_a_call_that_must_be_made_is_shown_without_a_reply() -> None:
    turns = turns_for([user("Go")], Choice((LOOK,), reply=False))
    system = "Answer with one JSON object: a tool call. Tools:\nlook(q, deep?): looks it up"
    shown = [user("Which tea?"), assistant('{"tool":"look","args":{"q":"tea"}}')]
    assert turns == [{"role": "system", "content": system}, *shown, user("Go")]


def test_examples_of_arguments_alone_stand_beside_the_tool() -> None:
    turns: list[Any] = turns_for([user("Go")], Choice((Tool("look", "", SCHEMA, None, {"q": "x"}),), reply=True))
    assert turns[0]["content"].endswith('\nlook(q, deep?) Example: {"tool":"look","args":{"q":"x"}}')
    assert turns[1:] == [user("Thank you!"), assistant('{"reply":"You are welcome."}'), user("Go")]


def test_a_conversation_without_tools_is_left_as_it_is() -> None:
    said = [
        SYSTEM,
        user("a"),
        user("b"),
        {"role": "assistant", "content": [{"type": "text", "text": "c"}], "name": "n"},
    ]
    assert turns_for(said, NOTHING) == said


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("Hi", "no role that is known"),
        ({"role": "critic", "content": "No."}, "no role that is known"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, "reads text only"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "names no function"),
    ],
)
def test_messages_that_cannot_be_read_are_refused(message: Any, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        turns_for([message], Choice((LOOK,), reply=True))


def test_the_models_request_has_what_changes_the_words_and_the_roles_slot() -> None:
    body: Any = {
        "model": "any", "messages": [user("Hi")], "temperature": 0.2, "stop": None, "stream": False, "user": "u",
        "max_completion_tokens": 7,
    }  # fmt: skip
    assert request_for(body, NOTHING, slot=2, seed=5) == {
        "messages": [user("Hi")], "temperature": 0.2, "max_tokens": 7, "id_slot": 2, "cache_prompt": True, "seed": 5,
        "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


def test_a_seed_and_a_form_of_the_request_itself_are_kept() -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    asked = request_for({"messages": [user("Hi")], "seed": 0, "response_format": form}, NOTHING, slot=0, seed=5)
    assert (asked["seed"], asked["response_format"], asked["max_tokens"]) == (0, form, 512)
    plain = request_for({"messages": [user("Hi")], "response_format": {"type": "text"}}, NOTHING, slot=0, seed=0)
    assert "response_format" not in plain


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "no messages"),
        ({"messages": []}, "no messages"),
        ({"messages": [user("Hi")], "n": 2}, "'n' can only be 1"),
        (
            {
                "messages": [user("Hi")],
                "tools": [{"type": "function", "function": {"name": "t"}}],
                "response_format": {"type": "json_object"},
            },
            "not both",
        ),
    ],
)
def test_requests_that_the_model_cannot_serve_are_refused(body: Any, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        request_for(body, choice_of(body), slot=0, seed=0)
