"""Crashes around every commit of a tool call, and within it: nothing is made twice, and no result is lost."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from crashes import Crash, crash_at_commit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_bench import open_turn, types

from bosun.stores.postgres import create_engine
from bosun.turn.tool_calls import INTERRUPTED

BATCHES = st.lists(
    st.tuples(st.sampled_from(["look", "note", "post", "refuse", "break", "absent"]), st.sampled_from(["{}", "{"])),
    min_size=1,
    max_size=4,
)
EXAMPLES = itertools.count()
COMMITS = 20
"""More than a batch of four calls has."""


@pytest.mark.parametrize(
    ("number", "after", "stored"),
    [
        (1, False, []),
        (1, True, ["guardian_action_reviewed"]),
        (2, False, ["guardian_action_reviewed"]),
        (2, True, ["guardian_action_reviewed", "tool_execution_started"]),
        (3, False, ["guardian_action_reviewed", "tool_execution_started"]),
        (3, True, ["guardian_action_reviewed", "tool_execution_started", "tool_result"]),
    ],
)
@pytest.mark.asyncio
async def test_a_call_has_three_commits_and_goes_on_after_each(
    engine: AsyncEngine, number: int, after: bool, stored: list[str]
) -> None:
    """A tool that was begun is not begun again; its lost result is an end of its own."""
    bench = await open_turn(engine)
    await bench.ask(("note", "{}"))
    with crash_at_commit(engine, number, after), pytest.raises(Crash):
        await bench.settle()
    assert await types(bench) == stored
    bench.steps.steps.clear()
    await bench.settle()
    lost = stored[-1:] == ["tool_execution_started"]
    if lost:
        assert bench.steps.names == ["tool.finished"]
    assert await bench.ends() == [("timed_out", INTERRUPTED) if lost else ("succeeded", "note ")]
    assert bench.gadgets.names == (["note"] if number != 2 or not after else [])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batch=BATCHES,
    crashes=st.lists(st.integers(1, COMMITS), max_size=4),
    within=st.sets(st.integers(1, 4), max_size=2),
    after=st.booleans(),
)
def test_a_crash_anywhere_makes_no_call_twice_and_loses_no_result(
    database_url: str, batch: list[tuple[str, str]], crashes: list[int], within: set[int], after: bool
) -> None:
    """Each attempt ends around one of its commits, or within a tool, until one comes through."""
    asyncio.run(crash_and_resume(database_url, batch, crashes, within, after))


async def crash_and_resume(
    database_url: str, batch: list[tuple[str, str]], crashes: list[int], within: set[int], after: bool
) -> None:
    """Settle a batch by as many attempts as it takes, and check what came of it."""
    engine = create_engine(database_url)
    try:
        bench = await open_turn(engine, f"web:{next(EXAMPLES)}")
        await bench.ask(*batch)
        bench.gadgets.crash_within = within
        for attempt in [*crashes, *([0] * (len(within) + 1))]:
            with crash_at_commit(engine, attempt, after):
                try:
                    await bench.settle()
                except Crash:
                    continue
        statuses = [status for status, _ in await bench.ends()]
        made = [context.call_id for _, context, _ in bench.gadgets.done]
        calls = (await bench.reader.tool_progress(bench.turn)).calls
        assert len(statuses) == len(batch), "every call has a result"
        assert len(made) == len(set(made)), "no call is made twice"
        for (name, arguments), call, status in zip(batch, calls, statuses, strict=True):
            expected = {"look": "succeeded", "note": "succeeded", "post": "denied"}.get(name, "failed")
            if arguments == "{":
                expected = "failed"
            assert status == expected or (status == "timed_out" and call.started)
            assert (status == "succeeded") <= (call.call.id in made)
            assert (call.call.id in made) <= call.started
            assert call.started <= (call.review is not None and call.review.decision == "allow")
        assert await bench.settle() == await bench.reader.tool_progress(bench.turn)
        assert made == [context.call_id for _, context, _ in bench.gadgets.done]
    finally:
        await engine.dispose()
