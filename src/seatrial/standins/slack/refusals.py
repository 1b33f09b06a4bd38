"""How Slack says no."""

from __future__ import annotations


class Refused(Exception):
    """A method does not do what it was asked. ``error`` is Slack's word for why; ``details`` are for a developer."""

    def __init__(self, error: str, *details: str) -> None:
        super().__init__(error)
        self.error = error
        self.details = details
