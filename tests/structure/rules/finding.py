"""What a checker returns, and the one place where it is put into words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, order=True)
class Finding:
    """One violation: where it is, what was seen, why that is refused, and what to do about it.

    `line` is counted from 1; 0 means the file as a whole.
    """

    path: str
    line: int
    what: str
    why: str
    cure: str

    @property
    def address(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


def render(gate: str, findings: Iterable[Finding]) -> str:
    """The message of a failed gate: every finding once, in the order of the files."""
    found = sorted(set(findings))
    lines = [f"{gate}: {len(found)} violation{'' if len(found) == 1 else 's'}"]
    for finding in found:
        lines += [
            f"'{finding.address}' {finding.what}",
            f"    why: {finding.why}",
            f"    do:  {finding.cure}",
        ]
    return "\n".join(lines)


def hold(gate: str, findings: Iterable[Finding]) -> None:
    """Fail the running gate with all its findings at once; return when there are none."""
    found = list(findings)
    if found:
        pytest.fail(render(gate, found), pytrace=False)
