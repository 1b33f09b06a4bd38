"""The verdicts of gates and cases, their exit codes, and how gates decide over their cases."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

EXIT_CODES = {
    "passed": 0,
    "blocked": 10,
    "stale": 11,
    "unrecorded": 12,
    "failed": 13,
    "broken": 14,
    "invalid": 15,
    "unsealed": 16,
}
"""Exit code of each verdict. They grow with severity, since a run ends with the largest."""

GATE_VERDICTS = ("passed", "failed", "unsealed", "broken")
"""The verdicts that a gate can have."""


@dataclass(frozen=True)
class Judgement:
    """A verdict, its one reason, and what to do about it (empty where only the reader can know)."""

    verdict: str
    reason: str = ""
    cure: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in EXIT_CODES:
            raise ValueError(f"'{self.verdict}' is no verdict; the verdicts are {', '.join(EXIT_CODES)}")

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    @property
    def headline(self) -> str:
        """The first line of the reason, for places with room for one line."""
        lines = self.reason.strip().splitlines()
        return lines[0] if lines else ""


@dataclass(frozen=True)
class GateOutcome:
    """What became of one gate, as far as its cases need to know."""

    address: str
    judgement: Judgement


@dataclass(frozen=True)
class Hindrance:
    """Why a case is not run, and by which gates."""

    judgement: Judgement
    gates: tuple[str, ...]


def hindrance(gates: Iterable[GateOutcome], *, command: str) -> Hindrance | None:
    """Return why a case with these gates is not run, or None when all of them passed.

    A gate that failed or broke blocks its cases. Where no gate did, but some could not be sealed, the
    case could not be sealed either: the reader needs the seal's reason and cure, not a gate's name.
    """
    unmet = sorted((gate for gate in gates if not gate.judgement.passed), key=lambda gate: gate.address)
    if not unmet:
        return None
    blocking = tuple(gate for gate in unmet if gate.judgement.verdict != "unsealed")
    if not blocking:
        first = unmet[0].judgement
        return Hindrance(Judgement("unsealed", first.reason, first.cure), tuple(gate.address for gate in unmet))
    names = tuple(gate.address for gate in blocking)
    told = ", ".join(f"gate '{gate.address}' {gate.judgement.verdict}" for gate in blocking)
    return Hindrance(Judgement("blocked", told, f"Run: {command} {shlex.join(names)}"), names)
