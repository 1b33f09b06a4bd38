"""Deadlines go by the timer that is given, and leave nothing running."""

from __future__ import annotations

import asyncio

import pytest

from bosun.timer import DeadlinePassed, Overtaken, ahead_of, heed_cancellation, within

pytestmark = pytest.mark.asyncio


class HandTimer:
    """A timer whose time passes when a test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.passed = asyncio.Event()

    def monotonic(self) -> float:
        """Stand still."""
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait for the test."""
        self.asked.append(seconds)
        await self.passed.wait()

    async def deadline(self, seconds: float) -> None:
        """Wait as for anything."""
        await self.sleep(seconds)


async def test_work_that_is_done_in_time_gives_its_result() -> None:
    """The deadline's own wait ends with it."""
    before = asyncio.all_tasks()

    async def work() -> str:
        return "done"

    assert await within(HandTimer(), 5, work()) == "done"
    assert asyncio.all_tasks() == before


async def test_work_past_its_deadline_has_ended_when_the_error_arrives() -> None:
    """Not merely been asked to end."""
    timer = HandTimer()
    ended = []

    async def work() -> None:
        timer.passed.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(DeadlinePassed, match="not done after 5 s"):
        await within(timer, 5, work())
    assert (timer.asked, ended) == ([5], [True])


async def test_the_error_of_the_work_is_the_callers() -> None:
    """A failure is never taken for a deadline."""

    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await within(HandTimer(), 5, work())


async def test_cancelling_the_caller_cancels_the_work() -> None:
    """Cancellation is part of the contract: nothing is left behind."""
    started = asyncio.Event()
    ended = []

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    caller = asyncio.create_task(within(HandTimer(), 5, work()))
    await started.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == [True]


async def test_a_rival_that_fails_is_no_overtaking() -> None:
    """Its error is the caller's, too."""

    async def rival() -> None:
        raise RuntimeError("rival")

    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="rival"):
        await ahead_of(rival(), work())


async def test_a_rival_that_ends_first_overtakes() -> None:
    """A lost lease ends the work."""

    async def rival() -> None:
        return None

    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Overtaken):
        await ahead_of(rival(), work())


async def test_a_loop_whose_cancellation_was_lost_ends_at_its_next_round() -> None:
    """Before CPython 3.12, `asyncio.wait_for` loses one when its result comes in the same moment."""
    lost = []

    async def rival() -> None:
        while True:
            heed_cancellation()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                lost.append(True)

    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert await ahead_of(rival(), work()) == "done"
    assert lost == [True]
