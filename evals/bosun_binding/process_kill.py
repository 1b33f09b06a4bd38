"""Where the process that Bosun runs in can be killed, and the switch that does it."""

from __future__ import annotations

import os
import signal

from bosun.steps import STEP_NAMES
from seatrial.kill import Kill

KILL_POINTS: tuple[str, ...] = (
    *STEP_NAMES,
    "request.received",
    "request.answered",
    "nudge.sent",
    "nudge.received",
    "nudge.done",
    "commit.before",
    "commit.after",
)
"""A step: Bosun has just reported it. A request of HTTP: nothing was done with it; its client has the answer. A nudge:
the queue has it; the worker has it; the worker is finished with it, and the queue does not know. A commit: PostgreSQL
does not know of it; PostgreSQL has done it, and Bosun does not know."""


class KillSwitch:
    """Counts the points that the process comes to, and kills it at the ordered one: no handler runs, nothing closes."""

    def __init__(self) -> None:
        self._kill: Kill | None = None
        self._since = 0
        self._seen = 0

    def order(self, kill: Kill) -> None:
        """Kill the process at this point. The counts begin now."""
        self._kill, self._since, self._seen = kill, 0, 0

    def reached(self, point: str) -> None:
        """Come to a point. Does not return from the ordered one."""
        kill = self._kill
        if kill is None:
            return
        if kill.since is not None and self._since < kill.since_nth:
            self._since += point == kill.since
            return
        self._seen += point == kill.at
        if point == kill.at and self._seen == kill.nth:
            os.kill(os.getpid(), signal.SIGKILL)
