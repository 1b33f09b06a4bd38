"""What a set-up says, and how it fails: what failed, why, what to do next."""

from __future__ import annotations

import sys


class SetUpError(Exception):
    """A set-up that cannot go on. `next_step` is something the reader can do."""

    def __init__(self, what: str, why: str, next_step: str) -> None:
        super().__init__(f"{what}: {why}. Next: {next_step}")
        self.what = what
        self.why = why
        self.next_step = next_step


def say(line: str) -> None:
    """One line of progress, on stderr: stdout belongs to Pants' own output."""
    print(f"pants: {line}", file=sys.stderr, flush=True)


def say_error(error: SetUpError) -> None:
    say(f"cannot set up Pants: {error.what}.")
    say(f"Why: {error.why}")
    say(f"Next: {error.next_step}")


def tail(text: str, lines: int = 4) -> str:
    """The end of a tool's output, in one line, for an error message."""
    kept = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(kept[-lines:]) or "it said nothing"


def megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
