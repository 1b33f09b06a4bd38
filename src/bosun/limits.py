"""The bounds of an app's work. Each is an option and keeps its default when it is not named."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds; seconds are the timer's. Raises `ValueError` for a value that bounds nothing."""

    turn_timeout_seconds: float = 600.0
    """How long one turn may think, all its slices together. When it passes, it fails with the kind `timeout`."""
    slice_budget_seconds: float = 240.0
    """How long a turn may think before it makes way for other conversations and goes on in another slice."""
    slices_per_turn: int = 100
    """How many slices one turn may have, counted in the log. After the last it fails with the kind `timeout`."""
    tool_calls_per_turn: int = 150
    """How many calls of tools one turn may make, counted in the log. Further ones fail, and no tools are offered."""
    context_window_tokens: int = 32_000
    """How many tokens the agent's model takes in one request, its answer included. From nine tenths of it on, what came
    before is summarized."""
    automated_turns: int = 10
    """How many turns in a row a conversation may have that no person asked for. Then one notice, and silence until a
    person writes."""
    workers: int = 4
    """How many conversations one process works on at once."""
    attempts: int = 5
    """How often the same work is tried after a crash or a fault before it is dead-lettered."""
    drain_seconds: float = 20.0
    """How long a shutdown waits for running turns, and then for titles, before it cancels them.

    The next start takes a cancelled turn up.
    """

    def __post_init__(self) -> None:
        for bound in fields(self):
            value = getattr(self, bound.name)
            if value < 0 or (value == 0 and bound.name != "drain_seconds"):
                raise ValueError(f"limit {bound.name} is {value!r}: give a number above zero")
