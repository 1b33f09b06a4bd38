"""Scheduling that the harness owns: the agent's conversation queue and its background work.

The agent runs its own worker loop over the queue; the harness decides when it gets something. Nothing
runs beside anything else, so that the order of the agent's requests is the same in every run.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from seatrial.clock import VirtualTimer

BACKGROUND_ORDER: tuple[str, ...] = ("title", "plugin_task")
"""The kinds of background work, in the order in which the harness runs them."""


Reason = Literal["message", "resume", "repair", "busy"]
"""Why an agent's worker is nudged. Public: a trial sees by it that a turn was paused or found its conversation busy."""


@dataclass(frozen=True)
class Parcel:
    """One nudge for the worker."""

    subject: str
    reason: Reason
    number: int


@dataclass(order=True)
class _Waiting:
    due: float
    number: int
    parcel: Parcel = field(compare=False)


class WorkQueue:
    """A queue that hands out one parcel at a time, and only when `run_next` is called."""

    def __init__(self, timer: VirtualTimer) -> None:
        self._timer = timer
        self._sent = 0
        self._waiting: list[_Waiting] = []
        self._resumptions: list[Parcel] = []
        self._open: Parcel | None = None
        self._takers: asyncio.Queue[Parcel] = asyncio.Queue()
        self._finished = asyncio.Event()

    # what the agent's transport calls

    def send(self, subject: str, reason: Reason, delay: float) -> None:
        """Keep a nudge until it is due, `delay` seconds from now on the trial's timer."""
        self._sent += 1
        parcel = Parcel(subject, reason, self._sent)
        heapq.heappush(self._waiting, _Waiting(self._timer.monotonic() + max(delay, 0.0), self._sent, parcel))
        if reason == "resume":
            self._resumptions.append(parcel)

    async def take(self) -> Parcel:
        """Wait for the next parcel that the harness hands out."""
        return await self._takers.get()

    def finish(self, number: int) -> None:
        """Say that the parcel with this number was handled. Another number is ignored: deliveries are
        at least once, and a worker may finish what it lost."""
        if self._open is not None and self._open.number == number:
            self._open = None
            self._finished.set()

    # what the trial calls

    def has_due(self) -> bool:
        """Tell whether a parcel may be handed out now."""
        return bool(self._waiting) and self._waiting[0].due <= self._timer.monotonic()

    def new_resumptions(self) -> tuple[Parcel, ...]:
        """Return the resumptions of paused turns that were sent since this was last asked. They stay in the queue."""
        new = tuple(self._resumptions)
        self._resumptions.clear()
        return new

    def next_busy_due(self) -> float | None:
        """Return when the earliest re-nudge of a busy conversation is due, None without one.

        A busy conversation is work of now that waits for its turn; other dated work is work of later.
        """
        return min((item.due for item in self._waiting if item.parcel.reason == "busy"), default=None)

    def undone(self) -> tuple[str, ...]:
        """Name the attempts that failed and that the agent wants to repeat later: their turns are not over."""
        now = self._timer.monotonic()
        return tuple(
            f"repair nudge for {item.parcel.subject} (due in {item.due - now:g} s)"
            for item in sorted(self._waiting)
            if item.parcel.reason == "repair" and item.due > now
        )

    async def run_next(self) -> None:
        """Hand out the earliest parcel and return when the agent has finished it."""
        self._open = heapq.heappop(self._waiting).parcel
        self._finished.clear()
        self._takers.put_nowait(self._open)
        await self._finished.wait()

    def lose(self) -> None:
        """Lose the parcel that is handed out, because whoever had it has died. What was not handed out stays.

        Queues that deliver at least once give it to somebody else, later. An agent that counts on that lets people wait
        until then, so here it does not come again.
        """
        self._open = None
        while not self._takers.empty():
            self._takers.get_nowait()

    def pending(self) -> tuple[str, ...]:
        """Name the work that is running or due now."""
        names = [] if self._open is None else [f"{self._open.reason} nudge for {self._open.subject} (running)"]
        now = self._timer.monotonic()
        names += [f"{w.parcel.reason} nudge for {w.parcel.subject}" for w in sorted(self._waiting) if w.due <= now]
        return tuple(names)


@dataclass(frozen=True)
class _Task:
    kind: str
    name: str
    work: Callable[[], Awaitable[None]]


class BackgroundWork:
    """Background work that waits until the harness runs it, one task at a time in a fixed order."""

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._running: _Task | None = None
        self._failures: list[str] = []

    def submit(self, kind: str, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Keep a task. Raises ValueError for a kind that has no place in the order."""
        if kind not in BACKGROUND_ORDER:
            raise ValueError(f"background work of kind {kind!r}: expected one of {', '.join(BACKGROUND_ORDER)}")
        self._tasks.append(_Task(kind, name, work))

    def has_tasks(self) -> bool:
        """Tell whether a task waits."""
        return bool(self._tasks)

    async def run_next(self) -> None:
        """Run the first task of the first kind that has one. What it raises is kept as a failure."""
        task = min(self._tasks, key=lambda candidate: BACKGROUND_ORDER.index(candidate.kind))
        self._tasks.remove(task)
        self._running = task
        try:
            await task.work()
        except Exception as error:
            self._failures.append(f"{task.kind} {task.name}: {type(error).__name__}: {error}")
        finally:
            self._running = None

    def lose(self) -> None:
        """Lose what waits, because whoever submitted it has died."""
        self._tasks.clear()

    def pending(self) -> tuple[str, ...]:
        """Name the tasks that wait or run."""
        running = () if self._running is None else (f"{self._running.kind} {self._running.name} (running)",)
        return running + tuple(f"{task.kind} {task.name}" for task in self._tasks)

    def failures(self) -> tuple[str, ...]:
        """Name the tasks that failed, with what they raised."""
        return tuple(self._failures)
