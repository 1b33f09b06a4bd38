"""The eight verdicts, their exit codes, and which one wins when several apply."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What is known about a case after it was asked for.

    Exit codes grow with severity, because a run of many cases ends with the largest one.
    """

    PASSED = "passed"
    BLOCKED = "blocked"
    STALE = "stale"
    UNRECORDED = "unrecorded"
    FAILED = "failed"
    BROKEN = "broken"
    INVALID = "invalid"
    UNSEALED = "unsealed"

    @property
    def exit_code(self) -> int:
        """The process exit code of this verdict."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Verdict.PASSED: 0,
    Verdict.BLOCKED: 10,
    Verdict.STALE: 11,
    Verdict.UNRECORDED: 12,
    Verdict.FAILED: 13,
    Verdict.BROKEN: 14,
    Verdict.INVALID: 15,
    Verdict.UNSEALED: 16,
}


class Cause(Enum):
    """Why a trial did not pass, in order of precedence: the first that applies gives the verdict.

    The order says which answer helps most. A case that could not be sealed says nothing else worth
    reading; an answer that was never recorded explains the failed expectations that follow from it.
    """

    UNSEALED = (Verdict.UNSEALED, 0)
    INVALID = (Verdict.INVALID, 1)
    CONTRACT_DIFFERS = (Verdict.STALE, 2)
    UNRECORDED = (Verdict.UNRECORDED, 3)
    BROKEN = (Verdict.BROKEN, 4)
    FAILED = (Verdict.FAILED, 5)
    RECORDING_UNUSED = (Verdict.STALE, 6)

    @property
    def verdict(self) -> Verdict:
        """The verdict that this cause leads to."""
        return self.value[0]

    @property
    def rank(self) -> int:
        """Position in the order of precedence, 0 first."""
        return self.value[1]


@dataclass(frozen=True)
class Finding:
    """One reason why a trial is not a pass.

    ``reason`` says what was seen in one line, ``detail`` holds what a reader needs to act on it, and
    ``cure`` is the command or edit that comes next (empty where only the reader can know).
    """

    cause: Cause
    reason: str
    detail: str = ""
    cure: str = ""


def decide(findings: tuple[Finding, ...]) -> tuple[Verdict, Finding | None]:
    """Return the verdict of a trial with these findings and the finding that decided it.

    No finding is a pass; of several, the one whose cause comes first in `Cause` decides, and among
    equals the one found first.
    """
    if not findings:
        return Verdict.PASSED, None
    first = min(findings, key=lambda finding: finding.cause.rank)
    return first.cause.verdict, first
