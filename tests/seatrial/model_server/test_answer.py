"""Whatever fits the schema is exactly one call or one reply, however it is spelled and wherever it is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.model_server.answer import AnswerBroken, Call, Reply, parse_answer, reply_so_far
from seatrial.model_server.reader import Reader
from seatrial.model_server.schema import answer_schema
from seatrial.model_server.tools import Choice, choice_of

rule = settings(derandomize=True, database=None, deadline=None, max_examples=300)

KINDS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "maxLength": 3},
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["a", 1, None]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"reply": {"type": "string"}}, "required": ["reply"]},
]
# Names that an answer's own form uses too must not confuse it.
names = st.sampled_from(["look", "reply", "tool", "args", 'a"b', "é"])


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """The choice of a request with some tools, whose parameters may be left out where they are not required."""
    tools: list[Any] = []
    for name in draw(st.lists(names, unique=True, min_size=1, max_size=4)):
        properties = draw(st.dictionaries(names, st.sampled_from(KINDS), max_size=3))
        required = [each for each in properties if draw(st.booleans())]
        schema = {"type": "object", "properties": properties, "required": required}
        tools.append({"type": "function", "function": {"name": name, "parameters": schema}})
    return choice_of({"tools": tools, "tool_choice": draw(st.sampled_from(["auto", "required"]))})


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """The values that fit a schema of the keywords used here, half surrogate pairs among the texts."""
    if "oneOf" in schema:
        return st.one_of([values(each) for each in schema["oneOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        properties = {name: values(each) for name, each in schema["properties"].items()}
        required = {name: properties.pop(name) for name in schema.get("required", ())}
        return st.fixed_dictionaries(required, optional=properties)
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), max_size=3)
    if schema["type"] == "string":
        return st.text(st.characters(), max_size=min(schema["maxLength"], 20))
    return {"integer": st.integers(), "boolean": st.booleans()}[schema["type"]]


def readable(value: Any) -> Any:
    """What a reader of whole characters makes of it."""
    spelled = json.dumps(value, ensure_ascii=False)
    return json.loads(spelled.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


spellings: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"ensure_ascii": False}, {"indent": 1}, {"separators": (",", ":")}]
)


@rule
@given(choices(), st.data())
def test_what_fits_the_schema_is_exactly_one_call_or_one_reply(choice: Choice, data: st.DataObject) -> None:
    value = data.draw(values(answer_schema(choice)))
    answer = parse_answer(json.dumps(value, **data.draw(spellings)), [tool.name for tool in choice.tools])
    if "reply" in value:
        assert answer == Reply(readable(value["reply"])) and choice.reply
    else:
        assert isinstance(answer, Call) and answer.tool == value["tool"]
        assert json.loads(answer.arguments) == readable(value["args"])
    repr(answer).encode("utf-8")


@rule
@given(st.text(st.characters()), spellings, st.data())
def test_a_reply_is_shown_while_it_is_written_and_never_taken_back(
    text: str, spelling: dict[str, Any], data: st.DataObject
) -> None:
    written = json.dumps({"reply": text}, **spelling)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=8)))
    reader = Reader(["look"])
    shown = [reader.take(written[start:end]) for start, end in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    last, finish = reader.end("stop")
    assert "".join(shown) + last == reader.text == readable(text) and finish == "stop" and reader.call is None


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("", None),
        ('{"rep', None),
        ('{"reply":', None),
        ('{"tool":"look","args":{"reply":"x"}}', None),
        ('{"reply":"', ""),
        ('{ "reply" : "Hi', "Hi"),
        ('{"reply":"a\\', "a"),
        ('{"reply":"a\\n', "a\n"),
        ('{"reply":"a\\u00e', "a"),
        ('{"reply":"a\\u00e9', "aé"),
        ('{"reply":"a\\ud83d', "a"),
        ('{"reply":"a\\ud83d\\ude00', "a😀"),
        ('{"reply":"a","b', "a"),
    ],
)
def test_only_whole_characters_of_a_reply_are_shown(written: str, seen: str | None) -> None:
    assert reply_so_far(written) == seen


@pytest.mark.parametrize(
    "written",
    [
        "",
        "Hello",
        '"Hello"',
        "[]",
        "{}",
        '{"reply":1}',
        '{"reply":"a","tool":"look"}',
        '{"tool":"look"}',
        '{"tool":"gone","args":{}}',
        '{"tool":["look"],"args":{}}',
        '{"tool":"look","args":[]}',
        '{"tool":"look","args":{}}{"tool":"look","args":{}}',
    ],
)
def test_anything_else_is_no_answer(written: str) -> None:
    with pytest.raises(AnswerBroken):
        parse_answer(written, ["look"])


def test_an_answer_that_was_cut_off_keeps_a_replys_beginning_and_drops_half_a_call() -> None:
    reply, half = Reader(["look"]), Reader(["look"])
    assert (reply.take('{"reply":"So far'), reply.end("length")) == ("So far", ("", "length"))
    assert (half.take('{"tool":"look","args":{"q":"a'), half.end("length"), half.call) == ("", ("", "length"), None)
    with pytest.raises(AnswerBroken):
        half.end("stop")


def test_without_tools_text_is_text_even_if_it_looks_like_a_call() -> None:
    reader = Reader([])
    assert [reader.take('{"tool":'), reader.take('"look"}')] == ['{"tool":', '"look"}']
    assert (reader.end("stop"), reader.call) == (("", "stop"), None)
