"""Which answers an agent that was killed may have lost, and has to get again."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from seatrial.gateway.seen import Entry


class LostAnswers:
    """The answers that a restarted agent may have lost, by request, in the order in which they were given.

    The rule. An answer may be lost from when it is given until the agent is next idle: an idle agent has committed what
    it was told, or has let it go. After a restart, each answer that may be lost is given once more to the same request
    (the same key), the earliest first; a request that was answered twice gets both again, in their order. Whoever asks
    once more than that asks something new, which is another occurrence. A second restart begins anew: an answer that
    was given again may be lost again.
    """

    def __init__(self) -> None:
        self._due: defaultdict[str, deque[Entry]] = defaultdict(deque)

    def restart(self, given: Iterable[Entry]) -> None:
        """Begin anew with what was given since the agent was last idle, in the order of the requests."""
        self._due.clear()
        for entry in given:
            if entry.is_answered and not entry.again:
                self._due[entry.key].append(entry)

    def forget(self) -> None:
        """The agent is idle: nothing is lost any more."""
        self._due.clear()

    def take(self, key: str) -> Entry | None:
        """Return the request that this one repeats, None for a new one."""
        due = self._due.get(key)
        return due.popleft() if due else None
