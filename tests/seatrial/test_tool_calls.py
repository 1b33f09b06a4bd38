"""The tool calls of a turn are compared with a closed list, whose order does not matter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from seatrial.cases.arguments import fits, same
from seatrial.cases.called import check_calls
from seatrial.cases.expectations import ToolCallWords
from seatrial.conversation import CallStatus, ToolCall

ENTRIES = TypeAdapter(list[ToolCallWords])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab", "1", "true"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=4,
)
queries = st.text(alphabet="ab", max_size=3)
names = st.sampled_from(["look", "keep", "send"])


def call(name: str, status: CallStatus = "succeeded", **arguments: Any) -> ToolCall:
    return ToolCall("id", name, status, arguments, "done")


def checks(entries: list[dict[str, Any]], *calls: ToolCall) -> list[tuple[str, str, str, bool]]:
    found = check_calls(ENTRIES.validate_python(entries), calls)
    return [(check.what, check.expected, check.seen, check.holds) for check in found]


def holds(entries: list[dict[str, Any]], *calls: ToolCall) -> bool:
    return all(check[-1] for check in checks(entries, *calls))


@settings(derandomize=True, database=None, deadline=None)
@given(json_values, json_values)
def test_exact_values_are_compared_as_json(one: Any, other: Any) -> None:
    assert same(one, other) == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


def test_one_number_may_be_written_in_two_ways_and_a_truth_is_no_number() -> None:
    assert same(1, 1.0) and not same(1, True) and not same(0, False) and not same([0], [False])


@settings(derandomize=True, database=None, deadline=None)
@given(
    st.lists(queries.filter(bool), max_size=2),
    st.lists(queries.filter(bool), max_size=2),
    st.dictionaries(st.sampled_from(["query", "other"]), queries | st.integers(0, 1), max_size=2),
)
def test_a_text_fits_when_it_holds_every_part_and_no_forbidden_one(
    wanted: list[str], unwanted: list[str], seen: dict[str, Any]
) -> None:
    if not wanted and not unwanted:
        return
    text = {"contain": wanted, "not_contain": unwanted}
    (words,) = ENTRIES.validate_python([{"name": "look", "args": {"query": text}}])
    query = seen.get("query")
    expected = isinstance(query, str) and not [w for w in wanted if query.find(w) < 0]
    expected = expected and not [u for u in unwanted if str(query).find(u) >= 0]
    assert fits(words.args, seen) == expected


@settings(derandomize=True, database=None, deadline=None)
@given(
    st.dictionaries(st.tuples(names, queries), st.integers(1, 2), max_size=4),
    st.lists(st.tuples(names, queries), max_size=6),
)
def test_a_list_of_exact_calls_holds_for_just_those_calls_in_any_order(
    expected: dict[tuple[str, str], int], made: list[tuple[str, str]]
) -> None:
    entries = [{"name": name, "args": {"q": q}, "times": times} for (name, q), times in expected.items()]
    promised = sorted(pair for pair, times in expected.items() for _ in range(times))
    assert holds(entries, *(call(name, q=q) for name, q in made)) == (sorted(made) == promised)
    assert holds(entries, *(call(name, q=q) for name, q in promised))


def test_an_empty_list_says_that_nothing_was_called() -> None:
    assert holds([])
    assert checks([], call("look", query="a")) == [("tool_calls", "none", 'look({"query": "a"}) succeeded', False)]


def test_a_call_that_no_entry_fits_is_told_beside_an_entry_that_holds() -> None:
    found = checks([{"name": "look", "args": {"query": "a"}}], call("look", query="a"), call("look", query="b"))
    assert found == [
        (
            "tool_calls.look",
            'once look(query: "a")',
            'once among look({"query": "a"}) succeeded, look({"query": "b"}) succeeded',
            True,
        ),
        ("tool_calls", "no other call", 'look({"query": "b"}) succeeded', False),
    ]


def test_arguments_that_are_not_named_are_free() -> None:
    assert holds([{"name": "look", "args": {"query": "a"}}], call("look", query="a", limit=3))
    assert holds([{"name": "look"}], call("look", query="a"))


def test_an_argument_that_is_named_has_to_be_there_even_where_it_may_hold_anything_else() -> None:
    assert not holds([{"name": "look", "args": {"query": {"not_contain": "x"}}}], call("look"))
    assert not holds([{"name": "look", "args": {"query": None}}], call("look"))


def test_arguments_that_are_no_object_fit_only_an_entry_that_names_none() -> None:
    unreadable = ToolCall("id", "look", "failed", '{"query": ', "the arguments are not valid JSON")
    assert holds([{"name": "look", "status": "failed"}], unreadable)
    assert not holds([{"name": "look", "args": {"query": "a"}}], unreadable)


def test_a_status_is_asserted_where_it_is_named() -> None:
    assert holds([{"name": "look", "status": "denied"}], call("look", "denied"))
    assert not holds([{"name": "look", "status": "denied"}], call("look", "succeeded"))


def test_an_entry_that_is_wider_counts_the_calls_of_a_narrower_one_too() -> None:
    entries: list[dict[str, Any]] = [{"name": "look", "times": 2}, {"name": "look", "args": {"query": {"match": "^a"}}}]
    assert holds(entries, call("look", query="ab"), call("look", query="b"))
    assert not holds(entries, call("look", query="ab"), call("look", query="a"))


@pytest.mark.parametrize(("calls", "told"), [(0, "'look' was never called"), (1, "once among "), (3, "3 times among ")])
def test_fewer_calls_or_more_than_said_fail_with_the_number_seen(calls: int, told: str) -> None:
    ((_, expected, seen, held), _) = checks([{"name": "look", "times": 2}], *[call("look", query="a")] * calls)
    assert expected == "2 times look()" and not held
    assert seen.startswith(told)


def test_a_tool_that_was_never_called_shows_the_nearest_that_was() -> None:
    ((_, _, seen, held), other) = checks([{"name": "search_memory"}], call("search_memories", query="a"))
    assert seen == "'search_memory' was never called; did you mean 'search_memories'?" and not held
    assert not other[-1]


def test_what_is_expected_of_a_text_is_told_in_words() -> None:
    text = {"contain": "launch", "not_contain": ["week"], "match": "^the"}
    ((_, expected, _, _), _) = checks([{"name": "look", "args": {"query": text}, "status": "succeeded"}])
    assert expected == (
        "once look(query contains “launch”, query does not contain “week”, query matches ^the) succeeded"
    )
