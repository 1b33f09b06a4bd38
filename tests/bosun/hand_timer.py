"""Time that passes when a test says so: for the clock, and for who waits."""

from __future__ import annotations

import asyncio

from conftest import HandClock


class HandTimer:
    """Moves a clock, and wakes who waits when his time has come."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def monotonic(self) -> float:
        """Return how much time has passed."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait for the test."""
        sleeper = (self._elapsed + seconds, asyncio.Event())
        self._sleepers.append(sleeper)
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers.remove(sleeper)

    async def deadline(self, seconds: float) -> None:
        """Wait as for anything."""
        await self.sleep(seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._elapsed += seconds
        self._clock.advance(seconds)
        for due, woken in self._sleepers:
            if due <= self._elapsed:
                woken.set()
