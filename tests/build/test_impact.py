"""What a change reaches: every dependent and nothing else, by a shortest way, and what its key says."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seatrial_build.core.impact import (
    NEW,
    SAME,
    UNKNOWN,
    Affected,
    Step,
    as_json,
    key_of,
    over_approximation,
    reach,
    way,
    worded,
)

NODES = st.sampled_from("abcdefgh")
GRAPHS = st.dictionaries(NODES, st.lists(NODES, max_size=4), max_size=8)


def distances(roots: set[str], dependents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many edges each is away from the nearest root, worked out without `reach`."""
    found = dict.fromkeys(roots, 0)
    waiting = deque(roots)
    while waiting:
        node = waiting.popleft()
        for other in dependents.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found


@given(st.sets(NODES), GRAPHS)
def test_it_reaches_all_dependents_and_nothing_else_by_shortest_ways(
    roots: set[str], dependents: dict[str, list[str]]
) -> None:
    reached = reach(roots, dependents, {})
    expected = distances(roots, dependents)
    assert set(reached) == set(expected)
    for node, distance in expected.items():
        steps = way(node, reached)
        assert len(steps) == distance + 1
        assert steps[-1] in roots
        assert all(dependent in dependents[needed] for dependent, needed in pairwise(steps))


def test_a_generated_target_says_nothing_about_its_siblings() -> None:
    dependents = {"f/a.yaml": ["f"], "f": ["f/a.yaml", "f/b.yaml", "user"]}
    generators = {"f/a.yaml": "f", "f/b.yaml": "f"}
    assert set(reach(["f/a.yaml"], dependents, generators)) == {"f/a.yaml"}
    assert set(reach(["f"], dependents, generators)) == {"f", "f/a.yaml", "f/b.yaml", "user"}


def record(verdict: object = "passed", seal: object = None) -> bytes:
    return json.dumps({"verdict": verdict, "seal": {"key": "k"} if seal is None else seal}).encode()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (record(), (SAME, "passed")),
        (record(seal={"key": "other"}), (NEW, "passed")),
        (record("failed"), (UNKNOWN, "failed")),
        (record("blocked", seal={}), (UNKNOWN, "blocked")),
        (record(seal={}), (UNKNOWN, "passed")),
        (record(seal="sealed"), (UNKNOWN, "passed")),
        (record(verdict=["passed"]), (UNKNOWN, "")),
        (None, (UNKNOWN, "")),
        (b"", (UNKNOWN, "")),
        (b"[]", (UNKNOWN, "")),
        (b"{", (UNKNOWN, "")),
    ],
)
def test_a_key_is_known_where_the_last_record_is_a_pass(content: bytes | None, expected: tuple[str, str]) -> None:
    assert key_of(content, "k") == expected


def test_a_key_that_is_not_known_is_compared_with_nothing() -> None:
    assert key_of(record(), "") == (UNKNOWN, "passed")
    assert key_of(record(seal={"key": ""}), "") == (UNKNOWN, "passed")


def affected(address: str, key: str, cause: str = "BUILD", **more: object) -> Affected:
    steps = (Step(address, "src/a.py", "t.py:3 imports a"),)
    return Affected(address, "eval_case", steps, cause, key, **more)  # type: ignore[arg-type]


def test_what_is_marked_for_nothing_is_counted_by_its_cause() -> None:
    found = [affected("a", SAME), affected("b", NEW), affected("c", NEW, "x.py"), affected("d", UNKNOWN)]
    assert over_approximation(found) == ["  BUILD: 3 marked, 1 with the same key"]


def test_a_person_reads_the_way_the_key_and_the_gates_that_did_not_pass() -> None:
    found = [affected("e/a.yaml", NEW, "src/a.py", last="passed", failing_gates=("//tests:layers",))]
    assert worded(found, ["src/a.py"], ["lock: redis 1 -> 2"]).splitlines() == [
        "e/a.yaml   new key",
        "    -> src/a.py   [t.py:3 imports a]",
        "    == src/a.py",
        "    its gate //tests:layers did not pass last time",
        "lock: redis 1 -> 2",
        "1 changed file: 1 gates and cases affected: 1 new key",
    ]
    assert "it failed last time" in worded([affected("a", UNKNOWN, last="failed")], [], [])


def test_of_a_long_way_the_middle_is_left_out() -> None:
    steps = tuple(Step(str(n), str(n + 1), "inferred") for n in range(40))
    text = worded([Affected("0", "eval_case", steps, "c", NEW)], ["c"], [])
    assert text.count("    -> ") == 13
    assert "-> ...   [28 more]" in text and "-> 40 " in text and "-> 1 " in text


def test_a_program_reads_the_same() -> None:
    document = json.loads(as_json([affected("a", NEW)], ["f"], "abc", ["n"]))
    assert document["affected"][0]["steps"] == [{"address": "a", "needs": "src/a.py", "reason": "t.py:3 imports a"}]
    assert (document["format"], document["base"], document["files"], document["notes"]) == (1, "abc", ["f"], ["n"])
