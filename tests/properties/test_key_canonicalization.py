"""The key of a request depends on what is asked and on nothing else: not on order, whitespace, escapes or spelling."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.gateway.key import JSON, MAX_DEPTH, canonical_json, parse_json, request_key

rule = settings(derandomize=True, database=None, deadline=None, max_examples=100)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, min_size=1, max_size=4)


def key(body: object, **changed: Any) -> str:
    parts: dict[str, Any] = {"method": "POST", "path": "/v1/chat/completions", "role": "agent", "conversation": 1}
    return request_key(body=body, **{**parts, **changed})


def respelled(value: JSON, data: st.DataObject) -> str:
    """The same JSON value in another spelling: order of names, whitespace, escapes, forms of a number."""

    def space() -> str:
        return data.draw(st.sampled_from(["", " ", "\n", "\t ", "\r\n"]))

    def text(value: str) -> str:
        if data.draw(st.booleans()):
            return json.dumps(value, ensure_ascii=data.draw(st.booleans()))
        units = value.encode("utf-16-be")
        return '"' + "".join(f"\\u{units[i]:02X}{units[i + 1]:02x}" for i in range(0, len(units), 2)) + '"'

    def number(value: float) -> str:
        spellings = [repr(value)]
        if isinstance(value, int):
            spellings += [f"{value}E+0", f"{value}.0", f"{value}.000e0", f"{value * 100}e-2"]
        else:
            spellings += [f"{value:.17e}", repr(value).upper()]
        # A fraction or an exponent makes every reader take a double: only those that mean the same number.
        return data.draw(st.sampled_from([each for each in spellings if json.loads(each) == value]))

    if isinstance(value, dict):
        names = data.draw(st.permutations(list(value)))
        inner = ",".join(f"{space()}{text(n)}{space()}:{space()}{respelled(value[n], data)}{space()}" for n in names)
        return "{" + (inner or space()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{space()}{respelled(each, data)}{space()}" for each in value) or space()) + "]"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value)


def changed_leaf(value: JSON, data: st.DataObject) -> JSON:
    """The value with exactly one leaf replaced by another value."""
    if isinstance(value, dict) and value:
        name = data.draw(st.sampled_from(list(value)))
        return {**value, name: changed_leaf(value[name], data)}
    if isinstance(value, list) and value:
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], changed_leaf(value[index], data), *value[index + 1 :]]
    return data.draw(st.one_of(st.none(), st.booleans(), numbers, texts).filter(lambda other: differs(value, other)))


def differs(left: JSON, right: JSON) -> bool:
    """Whether two leaves are different JSON values; worked out without the code under test."""
    if isinstance(left, (list, dict)) or isinstance(right, (list, dict)):
        return True
    kinds = [str if isinstance(v, str) else bool if isinstance(v, bool) else type(None) if v is None else int
             for v in (left, right)]  # fmt: skip
    return kinds[0] is not kinds[1] or left != right


@rule
@given(objects, st.data())
def test_the_spelling_of_a_body_makes_no_difference(body: dict[str, JSON], data: st.DataObject) -> None:
    spelled = respelled(body, data)
    assert key(parse_json(spelled.encode())) == key(body)


@rule
@given(objects, st.data())
def test_any_changed_leaf_makes_another_key(body: dict[str, JSON], data: st.DataObject) -> None:
    assert key(changed_leaf(body, data)) != key(body)


@rule
@given(objects, texts, values)
def test_any_further_field_makes_another_key(body: dict[str, JSON], name: str, value: JSON) -> None:
    if name not in body:
        assert key({**body, name: value}) != key(body)


@rule
@given(st.lists(values, min_size=2, max_size=4), st.data())
def test_the_order_of_a_list_makes_another_key(items: list[JSON], data: st.DataObject) -> None:
    other = data.draw(st.permutations(items))
    same = all(canonical_json(left) == canonical_json(right) for left, right in zip(items, other, strict=True))
    assert (key({"a": other}) == key({"a": items})) == same


@rule
@given(objects)
def test_the_canonical_form_means_the_value_and_is_its_own_canonical_form(body: dict[str, JSON]) -> None:
    once = canonical_json(body)
    assert canonical_json(parse_json(once)) == once
    assert b"\n" not in once and once.isascii()


@rule
@given(objects)
def test_where_and_who_asks_is_part_of_the_key(body: dict[str, JSON]) -> None:
    changes: list[dict[str, Any]] = [
        {"method": "GET"}, {"path": "/v1/embeddings"}, {"role": "title"}, {"conversation": 2},
    ]  # fmt: skip
    assert len({key(body), *(key(body, **change) for change in changes)}) == 5


@rule
@given(numbers)
def test_a_number_is_never_a_text_or_a_boolean(number: float) -> None:
    assert len({key({"a": number}), key({"a": str(number)}), key({"a": True}), key({"a": False})}) == 4


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("1", "1.0", True),
        ("100", "1e2", True),
        ("0", "-0.0", True),
        ("10000000000000000", "1e16", True),
        ("9007199254740993", "9007199254740992", False),
        ("9007199254740993", "9007199254740993.0", False),
        ("0.1", "0.10", True),
        ("0.1", "0.1000000000000000055511151231257827", True),
        ("1", "true", False),
        ("null", "0", False),
        ('"\\u00e9"', '"é"', True),
        ('"\\ud83c\\udf0d"', '"🌍"', True),
        ('"é"', '"e\u0301"', False),
        ('"\\/"', '"/"', True),
        ("[]", "{}", False),
        ("[[]]", "[]", False),
        ('{"a":null}', "{}", False),
    ],
)
def test_which_spellings_are_equal(left: str, right: str, equal: bool) -> None:
    keys = [key({"a": parse_json(text.encode())}) for text in (left, right)]
    assert (keys[0] == keys[1]) is equal


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud83d", {"\ud83d": 1}, {1: 2}, object()])
def test_what_is_not_json_has_no_key(value: object) -> None:
    with pytest.raises(ValueError):
        key({"a": value})


@pytest.mark.parametrize(
    "text", [b"NaN", b"[Infinity]", b"1e999", b'"\\ud83d"', b'{"a":1,"a":1}', b"\xff", b"", b"1 2"]
)
def test_what_is_not_strict_json_is_not_read(text: bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_nesting_has_a_bound_that_is_said_before_it_fails() -> None:
    deepest = MAX_DEPTH + 1  # the value itself is level 0
    assert canonical_json(parse_json(b"[" * deepest + b"]" * deepest))
    for depth in (deepest + 1, 1_000, 100_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse_json(b"[" * depth + b"]" * depth)


def test_the_key_of_a_known_request_stays_the_same_across_releases() -> None:
    """Recordings in repositories depend on it: if this must change, raise KEY_SCHEMA."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Grüße"}], "temperature": 0.7, "n": 1}
    canonical = (
        rb'{"body":{"messages":[{"content":"Gr\u00fc\u00dfe","role":"user"}],"model":"m","n":1,"temperature":0.7},'
        rb'"conversation":1,"key_schema":1,"method":"POST","path":"/v1/chat/completions","role":"agent"}'
    )
    assert key(body) == sha256(canonical).hexdigest()
