"""The production runner of background work: owned, named, and ended."""

from __future__ import annotations

import asyncio

import pytest

from bosun.background import TaskGroupRunner
from bosun.steps import Step

pytestmark = pytest.mark.asyncio


class ElapsedTimer:
    """A timer all of whose waits are over after the next turn of the event loop."""

    def monotonic(self) -> float:
        """Stand still."""
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """Be over."""

    async def deadline(self, seconds: float) -> None:
        """Be over."""


async def test_leaving_the_runner_waits_for_its_work() -> None:
    """Nothing is started and forgotten."""
    ended = []
    going = asyncio.Event()

    async def work() -> None:
        await going.wait()
        ended.append(True)

    async with TaskGroupRunner() as runner:
        runner.submit("title", "web:c", work)
        assert runner.pending() == ("title web:c",)
        going.set()
    assert (ended, runner.pending(), runner.failures()) == ([True], (), ())


async def test_one_failure_is_kept_and_ends_nothing_else() -> None:
    """Neither the other work nor the runner."""
    ended = []

    async def fails() -> None:
        raise ValueError("no title")

    async def succeeds() -> None:
        ended.append(True)

    async with TaskGroupRunner() as runner:
        runner.submit("title", "web:a", fails)
        runner.submit("plugin_task", "web:b", succeeds)
    assert ended == [True]
    assert runner.failures() == ("title web:a: ValueError: no title",)


async def test_finishing_in_bounded_time_cancels_what_takes_longer() -> None:
    """A model that never answers must not hold a shutdown up."""
    cancelled = []
    started = asyncio.Event()

    async def endless() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async with TaskGroupRunner() as runner:
        runner.submit("title", "web:c", endless)
        await started.wait()
        await runner.finish(ElapsedTimer(), 20)
        assert (cancelled, runner.pending()) == ([True], ())


async def test_a_step_outside_the_closed_list_is_refused() -> None:
    """The names are a contract."""
    with pytest.raises(ValueError, match=r"unknown step 'model.asked': the names are message\.accepted"):
        Step("model.asked", "web:c")
