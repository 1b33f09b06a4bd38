"""Where an agent is to die, which a test says and a binding carries out, and what its log shows then."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LogRow:
    """One row of a conversation's log, as the agent tells people of it: its number and what kind of event it is."""

    seq: int
    type: str


@dataclass(frozen=True)
class Kill:
    """The moment at which the agent's process is killed: the `nth` time that it comes to the point `at`.

    The binding names the points that its agent has. With `since`, the count begins when that point was reached
    `since_nth` times: `Kill("commit.before", since="model.answered")` is the first commit after the model's first
    answer. All counts begin when the kill is ordered.
    """

    at: str
    nth: int = 1
    since: str | None = None
    since_nth: int = 1

    def __str__(self) -> str:
        told = f"'{self.at}' ({self.nth})"
        return told if self.since is None else f"{told} since '{self.since}' ({self.since_nth})"
