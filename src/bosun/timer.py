"""The timer seam: waiting and deadlines, apart from the clock, so that a host can run them in virtual time.

Seconds everywhere. Instants that outlive a process (a lease's expiry) are the clock's; a timer's `monotonic`
has no meaning outside its process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Timer(Protocol):
    """Measures and waits."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary point of this process; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds of this timer's time: a pause, after which work goes on."""
        ...

    async def deadline(self, seconds: float) -> None:
        """Return after so many seconds of this timer's time: a bound of work that is done meanwhile.

        A host that moves time by itself moves it to the end of a pause, and never to that of a bound.
        """
        ...


class DeadlinePassed(Exception):
    """Work was cancelled because its deadline passed."""


class Overtaken(Exception):
    """Work was cancelled because something else came first."""


async def within(timer: Timer, seconds: float, work: Coroutine[Any, Any, Result]) -> Result:
    """Await work, at most for so many seconds of the timer's time.

    Raises `DeadlinePassed` after the work has ended.
    """
    try:
        return await ahead_of(timer.deadline(seconds), work)
    except Overtaken:
        raise DeadlinePassed(f"not done after {seconds:g} s") from None


async def ahead_of(rival: Coroutine[Any, Any, None], work: Coroutine[Any, Any, Result]) -> Result:
    """Await work unless its rival ends first. Either way both have ended when this returns.

    Raises `Overtaken` after the work was cancelled. Work that ends together with its rival counts as done.
    """
    task = asyncio.ensure_future(work)
    other = asyncio.ensure_future(rival)
    try:
        await asyncio.wait({task, other}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        other.result()
        raise Overtaken
    finally:
        await end(task, other)


def heed_cancellation() -> None:
    """Raise `CancelledError` when the current task was cancelled and went on all the same.

    A cancellation can be lost: before CPython 3.12, `asyncio.wait_for` returns its result when both come at once, and
    clients of stores use it. What loops asks before each round, or it could go on for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def end(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until all of it has ended, whatever it raises."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
