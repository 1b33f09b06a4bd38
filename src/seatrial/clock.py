"""Time as a trial has it: a frozen instant that only the trial moves."""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta


class VirtualTimer:
    """A monotonic timer whose seconds pass only when `advance` says so.

    Who sleeps on it wakes in the order of the due times, and among equals in the order of the calls.
    """

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._order = 0
        self._running_out = False
        self._follows = False
        self._sleepers: list[_Sleeper] = []
        self._told: list[Callable[[float], None]] = []
        self._begun: list[_Sleeper] = []
        self._beginning: asyncio.Future[None] | None = None

    def tell(self, moved: Callable[[float], None]) -> None:
        """Call `moved` with the seconds since the trial began whenever time has moved, before anybody wakes."""
        self._told.append(moved)

    def monotonic(self) -> float:
        """Return the seconds since the trial began."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the trial has moved time by `seconds`. Zero or less only yields once."""
        await self._wait(seconds, pause=True)

    async def deadline(self, seconds: float) -> None:
        """Wait as `sleep` does, but for a bound of work: time never moves to its end by itself."""
        await self._wait(seconds, pause=False)

    async def _wait(self, seconds: float, *, pause: bool) -> None:
        loop = asyncio.get_running_loop()
        wake: asyncio.Future[None] = loop.create_future()
        if self._running_out:
            self._move(self._elapsed + max(seconds, 0.0))
        if seconds <= 0 or self._running_out:
            loop.call_soon(_wake, wake)
            return await wake
        self._order += 1
        sleeper = _Sleeper(self._elapsed + seconds, self._order, seconds, pause, wake)
        heapq.heappush(self._sleepers, sleeper)
        self._begun.append(sleeper)
        if self._beginning is not None:
            _wake(self._beginning)
        if pause and self._follows:
            self._follows = False
            loop.call_soon(self._move_to, sleeper)
        try:
            await sleeper.wake
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    def _move_to(self, sleeper: _Sleeper) -> None:
        if not sleeper.wake.done():
            self.advance(max(sleeper.due - self._elapsed, 0.0))

    def advance(self, seconds: float) -> None:
        """Move time forward and wake everybody whose time has come.

        Raises ValueError for a negative span: time that runs backwards would make leases and deadlines
        mean nothing.
        """
        if seconds < 0:
            raise ValueError(f"time cannot be moved by {seconds} s: it only runs forward")
        target = self._elapsed + seconds
        while self._sleepers and self._sleepers[0].due <= target:
            sleeper = heapq.heappop(self._sleepers)
            self._move(max(self._elapsed, sleeper.due))
            _wake(sleeper.wake)
        self._move(target)

    def _move(self, to: float) -> None:
        if to != self._elapsed:
            self._elapsed = to
            for moved in self._told:
                moved(to)

    def next_due(self) -> float | None:
        """Return when the next sleeper wakes, None when nobody sleeps."""
        return self._sleepers[0].due if self._sleepers else None

    def wake_next(self) -> Counter[float]:
        """Move time to where the next sleeper wakes; return how long those slept who wake then, none where none is.

        What `begun` tells begins anew.
        """
        self._begun.clear()
        due = self.next_due()
        woken = Counter(sleeper.span for sleeper in self._sleepers if sleeper.due == due)
        if due is not None:
            self.advance(max(due - self._elapsed, 0.0))
        return woken

    def begun(self) -> tuple[_Sleeper, ...]:
        """Return the sleeps that began since the last `wake_next`."""
        return tuple(self._begun)

    def beginning(self) -> asyncio.Future[None]:
        """Return what is done as soon as another sleep begins."""
        if self._beginning is None or self._beginning.done():
            self._beginning = asyncio.get_running_loop().create_future()
        return self._beginning

    def follow_next_sleep(self, wanted: bool) -> None:
        """Say whether time moves by itself to the end of the next sleep that begins, once."""
        self._follows = wanted

    def run_out(self) -> None:
        """Let time run: who sleeps wakes now, and who sleeps later wakes at once.

        For the end of a trial. An agent that shuts down may give its work so many seconds; nobody is left who
        would move them.
        """
        self._running_out = True
        self.advance(max((sleeper.due for sleeper in self._sleepers), default=self._elapsed) - self._elapsed)


def _wake(sleeping: asyncio.Future[None]) -> None:
    if not sleeping.done():  # who was cancelled does not wake
        sleeping.set_result(None)


ROUNDS = 200
"""How many rounds of the event loop somebody who wakes has, before the next one is woken."""


async def pass_time(timer: VirtualTimer, seconds: float) -> None:
    """Move time forward step by step: who sleeps wakes at his own time, and acts on it before the next one wakes.

    Acting means what needs nothing from outside the process; an answer of a store is not waited for. Who goes to sleep
    again in between is woken again, when that is due before the end. Raises ValueError for a negative span.
    """
    if seconds < 0:
        raise ValueError(f"time cannot be moved by {seconds} s: it only runs forward")
    target = timer.monotonic() + seconds
    while (due := timer.next_due()) is not None and due <= target:
        timer.advance(max(due - timer.monotonic(), 0.0))
        for _ in range(ROUNDS):
            await timer.sleep(0)
    timer.advance(max(target - timer.monotonic(), 0.0))


async def pass_until(timer: VirtualTimer, gone: asyncio.Future[None]) -> None:
    """Let time pass for somebody who waits for what never comes, until he has left, and then to the end of his next
    wait.

    Time moves from one sleeper's end to the next one's. Who wakes and sleeps again for as long beats (a lease that is
    checked in): then time moves on. Whoever does anything else is given what time he needs, as it may be the leaving.
    """
    while not gone.done():
        woken = timer.wake_next()
        if not woken:
            await gone
        while not gone.done() and woken - Counter(sleeper.span for sleeper in timer.begun()):
            await asyncio.wait({gone, timer.beginning()}, return_when=asyncio.FIRST_COMPLETED)
        waits = [sleeper for sleeper in timer.begun() if sleeper.pause and not woken[sleeper.span]]
        if gone.done() and waits:
            timer.advance(max(waits[0].due - timer.monotonic(), 0.0))
        elif gone.done():
            timer.follow_next_sleep(True)


@dataclass(order=True)
class _Sleeper:
    due: float
    order: int
    span: float = field(compare=False)
    pause: bool = field(compare=False)
    wake: asyncio.Future[None] = field(compare=False)


class TrialClock:
    """The wall clock of a trial: one instant, moved by the same timer that wakes sleepers."""

    def __init__(self, at: datetime, timer: VirtualTimer) -> None:
        if at.tzinfo is None:
            raise ValueError(f"the trial's instant {at.isoformat()} has no time zone: write it with Z or an offset")
        self._at = at
        self._timer = timer

    def now(self) -> datetime:
        """Return the current instant, aware of its zone."""
        return self._at + timedelta(seconds=self._timer.monotonic())

    def advance(self, seconds: float) -> None:
        """Move time forward, for this clock and for all who sleep. Raises ValueError for a negative span."""
        self._timer.advance(seconds)
