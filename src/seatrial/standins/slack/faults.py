"""Failures that a test orders: the next calls of a method fail as a service fails that has a bad day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

Moment = Literal["before", "after"]


@dataclass(frozen=True)
class Fault:
    """How a call fails: with an error of Slack's, or by a connection that is cut.

    ``retry_after`` are the seconds of the header of a rate limit. ``drop`` says whether the connection is cut before
    the call took effect or after.
    """

    method: str
    error: str = ""
    retry_after: int | None = None
    drop: Moment | None = None
    times: int = 1


class Faults:
    """The faults that were ordered and have not come to pass, in order."""

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self._ordered: list[Fault] = []

    def order(self, fault: Fault) -> None:
        """Let the next calls of a method fail. Raises ValueError for a fault that Slack would not have."""
        if not self._known(fault.method):
            raise ValueError(f"the stand-in for Slack has no method '{fault.method}'")
        if fault.times < 1:
            raise ValueError(f"a fault that happens {fault.times} times is none")
        if bool(fault.error) == (fault.drop is not None):
            raise ValueError("a fault is an error of Slack's, or a connection that is cut")
        if (fault.error == "ratelimited") != (fault.retry_after is not None):
            raise ValueError("Slack says after how many seconds to try again when it limits a rate, and only then")
        if fault.retry_after is not None and fault.retry_after < 1:
            raise ValueError(f"Slack asks for a wait of whole seconds, at least one, not {fault.retry_after}")
        self._ordered.append(fault)

    def next(self, method: str) -> Fault | None:
        """Return the fault of this call and use it up."""
        for position, fault in enumerate(self._ordered):
            if fault.method == method:
                left = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                self._ordered[position : position + 1] = left
                return fault
        return None

    def unused(self) -> tuple[Fault, ...]:
        """Return the faults that never came to pass."""
        return tuple(self._ordered)
