"""Lanes: what the plain `test ::` leaves out, and how it is run."""

from __future__ import annotations

from collections.abc import Iterable

LANES = ("stress", "browser", "docker", "nightly")
"""The tags that put a target into a lane of its own. `[GLOBAL].tag` in pants.toml leaves exactly these out."""


def lane_of(tags: Iterable[str] | None) -> str:
    """Return the lane of a target with these tags; empty: it is in none, and runs with the rest."""
    return next((tag for tag in tags or () if tag in LANES), "")


def command_in(lane: str, command: str) -> str:
    """Word how the build is started for targets of this lane; `command` starts it for all others.

    The option replaces the list of lanes that are left out. Without its brackets it would be added to that list, and
    nothing would be found, not even a target that is named.
    """
    return f"{command} --tag=\"['{lane}']\"" if lane else command
