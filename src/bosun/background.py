"""The background seam: work that follows a turn (titles, plugin tasks) and that somebody owns until it ends."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final, Literal, Protocol, TypeAlias

from bosun.timer import DeadlinePassed, Timer, end, within

BackgroundKind: TypeAlias = Literal["title", "plugin_task"]
Work: TypeAlias = Callable[[], Awaitable[None]]

KEPT_FAILURES: Final = 100


class BackgroundRunner(Protocol):
    """Runs work outside of turns, and can say what is pending and what failed."""

    def submit(self, kind: BackgroundKind, name: str, work: Work) -> None:
        """Take work over.

        The name says what it belongs to; an exception of the work is the runner's to keep.
        """
        ...

    def pending(self) -> tuple[str, ...]:
        """Return the names of work that has not ended, in the order of submission."""
        ...

    def failures(self) -> tuple[str, ...]:
        """Return one line for each piece of work that failed."""
        ...


class TaskGroupRunner:
    """The production runner: a task group that is awaited at shutdown.

    Enter it before the first `submit`. Keeps the last hundred failures. Leaving the group waits for all work, however
    long it takes; `finish` before that bounds the wait.
    """

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._pending: dict[asyncio.Task[None], str] = {}
        self._failures: deque[str] = deque(maxlen=KEPT_FAILURES)

    async def __aenter__(self) -> TaskGroupRunner:
        """Open the group."""
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all work."""
        await self._group.__aexit__(kind, error, trace)

    async def finish(self, timer: Timer, seconds: float) -> None:
        """Wait for what is running, for so many seconds of the timer's time, and cancel the rest."""
        tasks = tuple(self._pending)
        try:
            await within(timer, seconds, _ended(tasks))
        except DeadlinePassed:
            logging.getLogger("bosun.background").warning("cancelled by the shutdown: %s", ", ".join(self.pending()))
        await end(*tasks)

    def submit(self, kind: BackgroundKind, name: str, work: Work) -> None:
        """Start work in the group."""
        label = f"{kind} {name}"
        task = self._group.create_task(self._run(label, work))
        self._pending[task] = label
        task.add_done_callback(lambda ended: self._pending.pop(ended, None))

    def pending(self) -> tuple[str, ...]:
        """Return what is running."""
        return tuple(self._pending.values())

    def failures(self) -> tuple[str, ...]:
        """Return what failed."""
        return tuple(self._failures)

    async def _run(self, label: str, work: Work) -> None:
        try:
            await work()
        except Exception as error:  # one failed piece of work must not end the others
            self._failures.append(f"{label}: {type(error).__name__}: {error}")
            logging.getLogger("bosun.background").exception("background work failed: %s", label)


async def _ended(tasks: tuple[asyncio.Task[None], ...]) -> None:
    if tasks:
        await asyncio.wait(tasks)
