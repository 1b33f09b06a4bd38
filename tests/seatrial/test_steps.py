"""Declared steps have to be seen, in their order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.steps import STEP_NAMES, StepLog, first_missing

names = st.sampled_from(STEP_NAMES)


@settings(derandomize=True, database=None, deadline=None)
@given(st.lists(names), st.data())
def test_any_selection_in_order_is_complete(seen: list[str], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(seen), max_size=len(seen)))
    declared = [name for name, kept in zip(seen, keep, strict=True) if kept]
    assert first_missing(declared, seen) is None


@settings(derandomize=True, database=None, deadline=None)
@given(st.lists(names), names)
def test_a_step_that_was_never_seen_is_missing_wherever_it_is_declared(seen: list[str], absent: str) -> None:
    without = [name for name in seen if name != absent]
    for position in range(len(without) + 1):
        assert first_missing([*without[:position], absent, *without[position:]], without) == absent


def test_a_step_declared_twice_has_to_be_seen_twice() -> None:
    assert first_missing(["model.requested", "model.requested"], ["model.requested"]) == "model.requested"


def test_steps_in_another_order_are_missing() -> None:
    assert (
        first_missing(["context.rendered", "model.requested"], ["model.requested", "context.rendered"])
        == "model.requested"
    )


def test_a_step_outside_the_closed_list_is_kept_apart() -> None:
    log = StepLog()
    log.add("model.requested", "c", {})
    log.add("model.bypassed", "c", {})
    assert [step.name for step in log.since(0)] == ["model.requested"]
    assert log.unknown == ("model.bypassed",)
