"""Time in a trial moves only when the trial moves it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.clock import TrialClock, VirtualTimer, pass_time, pass_until

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


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_who_is_cancelled_as_he_is_about_to_wake_leaves_no_error_behind(seconds: float) -> None:
    async def scenario() -> list[object]:
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
        timer = VirtualTimer()
        timer.run_out()
        asleep = asyncio.ensure_future(timer.sleep(seconds))
        asyncio.get_running_loop().call_soon(asleep.cancel)
        await asyncio.gather(asleep, return_exceptions=True)
        await settle()
        assert asleep.cancelled()
        return faults

    assert asyncio.run(scenario()) == []


@settings(derandomize=True, database=None, deadline=None)
@given(st.lists(st.lists(st.integers(1, 20), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(0, 60))
def test_time_that_passes_wakes_each_sleeper_at_his_own_time_as_often_as_he_goes_to_sleep(
    plans: list[list[int]], passed: int
) -> None:
    async def scenario() -> tuple[list[list[float]], float]:
        timer = VirtualTimer()
        seen: list[list[float]] = [[] for _ in plans]

        async def sleeper(number: int) -> None:
            for span in plans[number]:
                await timer.sleep(span)
                seen[number].append(timer.monotonic())

        tasks = [asyncio.ensure_future(sleeper(number)) for number in range(len(plans))]
        await settle()
        await pass_time(timer, passed)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return seen, timer.monotonic()

    seen, now = asyncio.run(scenario())
    assert now == passed
    assert seen == [[due for due in accumulate(plan) if due <= passed] for plan in plans]


def test_a_deadline_that_comes_first_ends_what_a_later_one_would_have_ended() -> None:
    async def scenario() -> list[str]:
        timer = VirtualTimer()
        ended: list[str] = []

        async def deadline(name: str, span: float, work: asyncio.Future[None]) -> None:
            await timer.sleep(span)
            if not work.done():
                work.cancel()
                ended.append(name)

        work: asyncio.Future[None] = asyncio.ensure_future(timer.sleep(1000))
        tasks = [asyncio.ensure_future(deadline(name, span, work)) for name, span in (("turn", 600), ("slice", 240))]
        await settle()
        await pass_time(timer, 600)
        await asyncio.gather(*tasks)
        return ended

    assert asyncio.run(scenario()) == ["slice"]


def test_time_follows_one_sleep_and_not_one_that_was_given_up() -> None:
    async def scenario() -> list[float]:
        timer = VirtualTimer()
        timer.follow_next_sleep(True)
        given_up = asyncio.ensure_future(timer.sleep(7))
        given_up.add_done_callback(lambda _: None)
        await asyncio.sleep(0)
        given_up.cancel()
        await settle()
        seen = [timer.monotonic()]
        timer.follow_next_sleep(True)
        await timer.sleep(0)
        await timer.sleep(3)
        seen.append(timer.monotonic())
        another = asyncio.ensure_future(timer.sleep(3))
        await settle()
        seen.append(timer.monotonic())
        another.cancel()
        return seen

    assert asyncio.run(scenario()) == [0.0, 3.0, 3.0]


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


def test_who_asked_to_be_told_hears_of_time_before_anybody_wakes() -> None:
    async def scenario() -> list[str]:
        timer = VirtualTimer()
        happened: list[str] = []
        timer.tell(lambda elapsed: happened.append(f"told {elapsed:g}"))

        async def sleeper(seconds: float) -> None:
            await timer.sleep(seconds)
            happened.append(f"woke at {timer.monotonic():g}")

        sleeping = [asyncio.ensure_future(sleeper(seconds)) for seconds in (5, 8)]
        await settle()
        timer.advance(0)
        timer.advance(6)
        await settle()
        timer.run_out()
        await asyncio.gather(*sleeping)
        return happened

    assert asyncio.run(scenario()) == ["told 5", "told 6", "woke at 6", "told 8", "woke at 8"]


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


@pytest.mark.parametrize(("beat", "silence", "backoff"), [(15, 70, 1), (15, 70, 30), (7, 70, 1), (100, 70, 1)])
@pytest.mark.parametrize("late", [0, 1, 50])
def test_time_passes_until_somebody_leaves_and_over_the_wait_that_he_leaves_for(
    beat: int, silence: int, backoff: int, late: int
) -> None:
    """However many rounds of the loop it takes until his leaving is seen."""

    async def scenario() -> list[tuple[str, float]]:
        timer = VirtualTimer()
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        seen: list[tuple[str, float]] = []

        async def beats() -> None:
            while True:
                await timer.sleep(beat)
                await settle()  # a store is asked
                seen.append(("beat", timer.monotonic()))

        async def leave() -> None:
            for _ in range(late):
                await settle()
            gone.set_result(None)

        async def client() -> None:
            await timer.sleep(silence)
            leaving = asyncio.ensure_future(leave())
            seen.append(("left", timer.monotonic()))
            await timer.sleep(backoff)
            seen.append(("back", timer.monotonic()))
            await leaving

        beating, asking = asyncio.ensure_future(beats()), asyncio.ensure_future(client())
        await settle()
        await pass_until(timer, gone)
        await asking
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        return [each for each in seen if each[0] != "beat"] + [("end", timer.monotonic())]

    end = float(silence + backoff)
    assert asyncio.run(scenario()) == [("left", float(silence)), ("back", end), ("end", end)]


def test_time_follows_a_pause_and_never_a_deadline() -> None:
    """Whoever asks a model after an error bounds the asking first."""

    async def scenario() -> list[float]:
        timer = VirtualTimer()
        timer.follow_next_sleep(True)
        bound = asyncio.ensure_future(timer.deadline(70))
        await settle()
        seen = [timer.monotonic()]
        await timer.sleep(3)
        seen.append(timer.monotonic())
        assert not bound.done()
        timer.advance(67)
        await bound
        return [*seen, timer.monotonic()]

    assert asyncio.run(scenario()) == [0.0, 3.0, 70.0]
