"""The harness's seams inside the process that Bosun runs in: each speaks to the trial, which has the real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from bosun.background import BackgroundKind
from bosun.mailbox.queue import Delivery, Nudge
from bosun.steps import Step
from bosun_binding.error_log import ErrorLog
from bosun_binding.process_kill import KillSwitch
from bosun_binding.process_wire import Frame, Wire


class Time:
    """Clock and timer. The trial says how much time has passed; who sleeps is woken by it."""

    def __init__(self, wire: Wire, at: datetime, elapsed: float) -> None:
        self._wire = wire
        self._at = at
        self._elapsed = elapsed
        self._asleep: dict[int, asyncio.Future[None]] = {}
        self._slept = 0

    def now(self) -> datetime:
        """Return the trial's instant."""
        return self._at + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return the seconds since the trial began."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the trial has moved time so far."""
        await self._wait(seconds, "sleep")

    async def deadline(self, seconds: float) -> None:
        """Wait as `sleep` does, for a bound of work."""
        await self._wait(seconds, "deadline")

    async def _wait(self, seconds: float, kind: str) -> None:
        if seconds <= 0:
            return await asyncio.sleep(0)
        self._slept += 1
        number = self._slept
        wake = self._asleep[number] = asyncio.get_running_loop().create_future()
        self._wire.send("sleep", number=number, due=self._elapsed + seconds, kind=kind)
        try:
            await wake
        finally:
            if self._asleep.pop(number, None) is not None:
                self._wire.send("wake_not", number=number)

    def move(self, frame: Frame) -> None:
        """Hear that time has passed."""
        self._elapsed = frame["elapsed"]

    def wake(self, frame: Frame) -> None:
        """Hear that a wait is over."""
        wake = self._asleep.pop(frame["number"], None)
        if wake is not None and not wake.done():
            wake.set_result(None)


class Queue:
    """Bosun's conversation queue. It lies with the trial, so it outlives the process."""

    def __init__(self, wire: Wire, switch: KillSwitch) -> None:
        self._wire = wire
        self._switch = switch
        self._here: asyncio.Queue[Delivery] = asyncio.Queue()
        self._asked = False

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Hand a nudge over. The trial has it when this returns."""
        self._wire.send("nudge", subject=nudge.conversation_id, reason=nudge.reason, delay=delay)
        self._switch.reached("nudge.sent")

    async def receive(self) -> Delivery:
        """Wait until the trial hands out a nudge."""
        if not self._asked:
            self._asked = True
            self._wire.send("take")
        delivery = await self._here.get()
        self._asked = False
        self._switch.reached("nudge.received")
        return delivery

    async def done(self, delivery: Delivery) -> None:
        """Tell the trial that a nudge was handled."""
        self._switch.reached("nudge.done")
        self._wire.send("done", number=int(delivery.token))

    def parcel(self, frame: Frame) -> None:
        """Hear of a nudge."""
        self._here.put_nowait(Delivery(Nudge(frame["subject"], frame["reason"]), str(frame["number"])))


class Background:
    """Bosun's background runner. The work is here; when it runs, the trial says."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._work: dict[int, tuple[str, Callable[[], Awaitable[None]]]] = {}
        self._submitted = 0
        self._running: set[asyncio.Task[None]] = set()

    def submit(self, kind: BackgroundKind, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Keep work until the trial wants it run."""
        self._submitted += 1
        self._work[self._submitted] = (f"{kind} {name}", work)
        self._wire.send("submit", number=self._submitted, kind=kind, name=name)

    def pending(self) -> tuple[str, ...]:
        """Return what has not ended."""
        return tuple(name for name, _ in self._work.values())

    def failures(self) -> tuple[str, ...]:
        """Return nothing: what fails is told to the trial."""
        return ()

    def run(self, frame: Frame) -> None:
        """Hear that work is to run now."""
        task = asyncio.ensure_future(self._run(frame["number"]))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, number: int) -> None:
        why: str | None = None
        try:
            await self._work[number][1]()
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        del self._work[number]
        self._wire.send("ran", number=number, why=why)


class Steps:
    """Bosun's step hook. The trial has the step before the process can die of it."""

    def __init__(self, wire: Wire, switch: KillSwitch) -> None:
        self._wire = wire
        self._switch = switch

    def emit(self, step: Step) -> None:
        """Tell the trial of one step."""
        self._wire.send("step", name=step.name, conversation_id=step.conversation_id, fields=dict(step.fields))
        self._switch.reached(step.name)


class ToldErrors(ErrorLog):
    """Tells the trial what Bosun logs as an error."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def emit(self, record: Any) -> None:
        """Tell of one error."""
        super().emit(record)
        self._wire.send("error", words=self.seen()[-1])
