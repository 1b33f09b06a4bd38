"""The blocks of the system prompt.

Each has a name and a version that changes when a field's meaning changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bosun.clock import CalendarPolicy
from bosun.context.escape import one_line
from bosun.context.sources import AccountSnapshot
from bosun.recall import FactBlock

BLOCK_VERSIONS: Final = {"account": 1, "actor": 1, "summary": 1, "time": 1}
"""The blocks of every prompt. A block of recalled facts is the plugin's that recalls them, and so is its version."""

LONGEST_FACT: Final = 300
"""How many characters of a recalled fact are told."""

MOST_PROJECTS: Final = 40
"""How many projects are named; the rest is counted."""


@dataclass(frozen=True)
class Block:
    """A named block of facts, one a line."""

    name: str
    lines: tuple[str, ...]

    def render(self) -> str:
        """Return the block as the model reads it."""
        tag = {"account": "account_context", "summary": "earlier_conversation"}.get(self.name, self.name)
        return "\n".join((f"<{tag}>", *self.lines, f"</{tag}>"))


def account_block(snapshot: AccountSnapshot, now: datetime, calendar: CalendarPolicy, stale_after: timedelta) -> Block:
    """Describe the account; data older than `stale_after` says how old it is."""
    lines = [
        f"account: {one_line(snapshot.display_name)}",
        f"plan: {one_line(snapshot.plan)} plan",
        f"projects: {_listed(snapshot.projects)}",
        f"updated: {calendar.local(snapshot.updated_at):%Y-%m-%d %H:%M}",
    ]
    age = now - snapshot.updated_at
    if age > stale_after:
        lines.append(f"warning: this data is {_days(age)} old; say so when you use it")
    return Block("account", tuple(lines))


def actor_block(display_name: str) -> Block:
    """Say who is asking."""
    return Block("actor", (f"name: {one_line(display_name)}",))


def time_block(now: datetime, calendar: CalendarPolicy) -> Block:
    """Say what time it is where the app's calendar hangs."""
    local = calendar.local(now)
    return Block(
        "time",
        (
            f"now: {local:%A %Y-%m-%d %H:%M} {calendar.zone}",
            f"week starts: {calendar.week_starts.capitalize()}",
        ),
    )


def summary_block(summary: str) -> Block:
    """Say what was said before, where a summary stands for it."""
    return Block("summary", tuple(one_line(line, LONGEST_FACT) for line in summary.splitlines()))


def fact_block(facts: FactBlock) -> Block:
    """Say what was recalled."""
    return Block(facts.name, tuple(one_line(line, LONGEST_FACT) for line in facts.lines))


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    shown = ", ".join(one_line(name) for name in names[:MOST_PROJECTS])
    hidden = len(names) - MOST_PROJECTS
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def _days(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    count, unit = (age.days, "day") if age.days else (hours, "hour")
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
