"""When an agent is idle, and how a trial brings it there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from seatrial.clock import VirtualTimer
from seatrial.work import BackgroundWork, Parcel, WorkQueue

IDLE_SECONDS = 60.0
"""How long, in real seconds, an agent may take to become idle. Only a hang reaches it: nothing in a
sealed trial waits for anything outside."""


LOOK_SECONDS = 1.0
"""How often a trial that waits looks whether the agent has failed. It decides how soon a failure is told, and nothing
else: an agent that works is not held up by it."""


class NotIdle(Exception):
    """The agent did not become idle. ``pending`` names what it was still doing, ``errors`` what had failed.

    ``seconds`` is how long it had; None when it had nothing to do and was not finished all the same.
    """

    def __init__(
        self, pending: tuple[str, ...], errors: tuple[str, ...] = (), *, seconds: float | None = IDLE_SECONDS
    ) -> None:
        self.pending = pending
        self.errors = errors
        if errors:
            super().__init__(f"the agent failed and did not become idle: {errors[0]}")
            return
        when = "although nothing is due" if seconds is None else f"after {seconds:g} s"
        super().__init__(f"the agent is not idle {when}; pending: " + ("; ".join(pending) or "nothing that it names"))


async def nothing_to_tell(parcel: Parcel) -> None:
    """Let a paused turn go on at once."""


def nothing() -> tuple[str, ...]:
    """Name nothing."""
    return ()


async def until_idle(
    queue: WorkQueue,
    background: BackgroundWork,
    timer: VirtualTimer,
    *,
    agent_pending: Callable[[], tuple[str, ...]],
    agent_errors: Callable[[], tuple[str, ...]],
    waits_for_upstream: Callable[[], bool],
    held: Callable[[], tuple[str, ...]] = nothing,
    paused: Callable[[Parcel], Awaitable[None]] = nothing_to_tell,
    seconds: float = IDLE_SECONDS,
) -> None:
    """Run conversation work, then background work, one piece at a time, until nothing is due.

    What is work of now, and how far time moves:

    - A paused turn's resumption that is due is work of now. `paused` is told of each resumption before anything else
      is handed out.
    - A busy conversation's re-nudge is work of now too: time moves to it.
    - A pause of the agent's that follows an error of the model's service is work of now, because it is the rest of the
      running turn: the trial moves time to the end of the first pause that begins after the error. No other wait moves
      time, and no deadline does. Check-ins of a lease begin before anything failed, so they alone never do, and an
      agent that only checks in does not spin.
    - Other work that is dated in the future stays where it is. Where it is the repetition of an attempt that failed,
      the turn is not over, and the agent is not idle.

    While a recording upstream is being asked the limit does not run, because a real model is as slow as it is.
    `held` names what is held from the agent, for the message. Raises NotIdle, and what `paused` raises.
    """
    work = asyncio.ensure_future(_run_all(queue, background, timer, paused))
    waited = 0.0
    try:
        while not (await asyncio.wait({work}, timeout=min(LOOK_SECONDS, seconds)))[0]:
            waited = 0.0 if waits_for_upstream() else waited + LOOK_SECONDS
            pending = queue.pending() + held() + background.pending() + agent_pending() + _waits(timer)
            if agent_errors():
                raise NotIdle(pending, agent_errors())
            if waited >= seconds:
                raise NotIdle(pending, seconds=seconds)
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    work.result()
    left = queue.undone() + agent_pending()
    if left:
        raise NotIdle(left, agent_errors(), seconds=None)


def _waits(timer: VirtualTimer) -> tuple[str, ...]:
    """Name the next wait on the trial's time. It is not work that is due, but it may be what the turn waits for."""
    due = timer.next_due()
    return (
        ()
        if due is None
        else (f"a wait on the trial's time, which ends when it is moved by {due - timer.monotonic():g} s",)
    )


async def _run_all(
    queue: WorkQueue, background: BackgroundWork, timer: VirtualTimer, paused: Callable[[Parcel], Awaitable[None]]
) -> None:
    while True:
        for parcel in queue.new_resumptions():
            await paused(parcel)
        if queue.has_due():
            await queue.run_next()
        elif (due := queue.next_busy_due()) is not None:
            timer.advance(max(0.0, due - timer.monotonic()))
        elif background.has_tasks():
            await background.run_next()
        else:
            return
        timer.follow_next_sleep(False)  # what failed in this piece of work is no reason of the next one's waits
