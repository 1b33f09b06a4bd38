"""When an agent is idle, and how a trial brings it there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from seatrial.clock import VirtualTimer
from seatrial.work import BackgroundWork, WorkQueue

IDLE_SECONDS = 60.0
"""How long, in real seconds, an agent may take to become idle. Only a hang reaches it: nothing in a
sealed trial waits for anything outside."""


LOOK_SECONDS = 1.0
"""How often a trial that waits looks whether the agent has failed. It decides how soon a failure is told, and nothing
else: an agent that works is not held up by it."""


class NotIdle(Exception):
    """The agent did not become idle. ``pending`` names what it was still doing, ``errors`` what had failed."""

    def __init__(self, pending: tuple[str, ...], errors: tuple[str, ...] = ()) -> None:
        self.pending = pending
        self.errors = errors
        if errors:
            super().__init__(f"the agent failed and did not become idle: {errors[0]}")
            return
        super().__init__(
            f"the agent is not idle after {IDLE_SECONDS:.0f} s; pending: "
            + ("; ".join(pending) or "nothing that it names")
        )


async def until_idle(
    queue: WorkQueue,
    background: BackgroundWork,
    timer: VirtualTimer,
    *,
    agent_pending: Callable[[], tuple[str, ...]],
    agent_errors: Callable[[], tuple[str, ...]],
    waits_for_upstream: Callable[[], bool],
    seconds: float = IDLE_SECONDS,
) -> None:
    """Run conversation work, then background work, one piece at a time, until nothing is due.

    Work that is dated in the future stays where it is, but a busy conversation's re-nudge is work of now:
    the trial moves time to it. While a recording upstream is being asked the limit does not run, because
    a real model is as slow as it is. Raises NotIdle.
    """
    work = asyncio.ensure_future(_run_all(queue, background, timer))
    waited = 0.0
    try:
        while not (await asyncio.wait({work}, timeout=min(LOOK_SECONDS, seconds)))[0]:
            waited = 0.0 if waits_for_upstream() else waited + LOOK_SECONDS
            pending = queue.pending() + background.pending() + agent_pending()
            if agent_errors():
                raise NotIdle(pending, agent_errors())
            if waited >= seconds:
                raise NotIdle(pending)
    finally:
        if not work.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    work.result()
    left = agent_pending()
    if left:
        raise NotIdle(left)


async def _run_all(queue: WorkQueue, background: BackgroundWork, timer: VirtualTimer) -> None:
    while True:
        if queue.has_due():
            await queue.run_next()
        elif (due := queue.next_busy_due()) is not None:
            timer.advance(max(0.0, due - timer.monotonic()))
        elif background.has_tasks():
            await background.run_next()
        else:
            return
