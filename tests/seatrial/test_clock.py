"""Time in a trial moves only when the trial moves it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.clock import TrialClock, VirtualTimer

NOON = datetime(2030, 1, 15, 12, 0, tzinfo=UTC)


@settings(derandomize=True, database=None, deadline=None)
@given(st.lists(st.integers(min_value=1, max_value=50), min_size=1, max_size=8))
def test_sleepers_wake_in_the_order_of_their_times_and_see_them(spans: list[int]) -> None:
    async def scenario() -> list[tuple[int, int]]:
        timer = VirtualTimer()
        woken: list[tuple[int, int]] = []

        async def sleeper(number: int, span: int) -> None:
            await timer.sleep(span)
            woken.append((span, number))

        async with asyncio.TaskGroup() as group:
            for number, span in enumerate(spans):
                group.create_task(sleeper(number, span))
            await settle()
            timer.advance(50)
        return woken

    assert asyncio.run(scenario()) == sorted((span, number) for number, span in enumerate(spans))


async def settle() -> None:
    """Let every task that can run reach its next wait."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_nobody_wakes_before_time_is_moved() -> None:
    async def scenario() -> bool:
        timer = VirtualTimer()
        task = asyncio.ensure_future(timer.sleep(5))
        await settle()
        timer.advance(4.999)
        await settle()
        early = task.done()
        timer.advance(0.001)
        await task
        return early

    assert asyncio.run(scenario()) is False


def test_when_time_runs_out_everybody_wakes_now_and_later_sleepers_at_once() -> None:
    async def scenario() -> tuple[float, float]:
        timer = VirtualTimer()
        sleepers = [asyncio.ensure_future(timer.sleep(span)) for span in (5, 3600)]
        await settle()
        timer.run_out()
        await asyncio.gather(*sleepers)
        woken = timer.monotonic()
        await timer.sleep(20)
        return woken, timer.monotonic()

    assert asyncio.run(scenario()) == (3600, 3620)


def test_a_cancelled_sleeper_is_forgotten() -> None:
    async def scenario() -> float:
        timer = VirtualTimer()
        task = asyncio.ensure_future(timer.sleep(5))
        await settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        timer.advance(10)
        return timer.monotonic()

    assert asyncio.run(scenario()) == 10


def test_the_clock_shows_the_instant_moved_by_the_timer() -> None:
    timer = VirtualTimer()
    clock = TrialClock(NOON, timer)
    assert clock.now() == clock.now() == NOON
    timer.advance(90)
    assert clock.now() == NOON + timedelta(seconds=90)


def test_time_does_not_run_backwards_and_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="only runs forward"):
        VirtualTimer().advance(-1)
    with pytest.raises(ValueError, match="no time zone"):
        TrialClock(datetime(2030, 1, 15), VirtualTimer())
