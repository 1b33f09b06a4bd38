"""The tables of the load benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from load_check import Findings
from load_client import Load

MOST_MISTAKES = 20


@dataclass(frozen=True)
class Phase:
    """One load: what it was, how long it and the rest of its work took, and CPU seconds by part."""

    name: str
    load: Load
    seconds: float
    drain_seconds: float
    cpu_while_sending: dict[str, float]
    cpu: dict[str, float]


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so large a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def print_phases(phases: Sequence[Phase], conversations: int, people: int) -> None:
    """Print all loads beside each other, and how the last differs from the first."""
    print(f"\n{conversations} conversations of {people} people; the model's part is an endpoint that answers at once\n")
    print(f"{'':<34}" + "".join(f"{phase.name:>12}" for phase in phases) + f"{'ratio':>9}")
    refusals = [Counter(_status(answer.status, answer.problem) for answer in phase.load.answers) for phase in phases]
    _row("messages sent", [len(phase.load.sent) for phase in phases], "")
    _row("accepted", [counts["accepted"] for counts in refusals], "")
    _row("accepted a second", [refusals[n]["accepted"] / phase.seconds for n, phase in enumerate(phases)], "/s", 1)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)):
        _row(f"append answered, {name}", [quantile(phase.load.seconds, share) * 1000 for phase in phases], " ms", 1)
    _row("the load itself late by at most", [phase.load.latest_start * 1000 for phase in phases], " ms", 1)
    _row("all answered after the last by", [phase.drain_seconds for phase in phases], " s", 1)
    for title, of in (
        ("while sending, ", [phase.cpu_while_sending for phase in phases]),
        ("until all is answered, ", [phase.cpu for phase in phases]),
    ):
        print(f"CPU of a message, {title[:-2]}")
        for part in phases[0].cpu:
            each = [of[n][part] * 1000 / len(phase.load.sent) for n, phase in enumerate(phases)]
            _row(f"  {part}", each, " ms", 2)
    print(f"{'CPU seconds while sending, a second':<34}")
    for part in phases[0].cpu:
        _row(f"  {part}", [phase.cpu_while_sending[part] / phase.seconds for phase in phases], "", 2)


def print_findings(findings: Findings) -> None:
    """Say whether anything was lost."""
    print()
    for problem, count in sorted(findings.refused.items()):
        print(f"{count} messages were not accepted: {problem}")
    for mistake in findings.mistakes[:MOST_MISTAKES]:
        print(mistake)
    if findings.mistakes:
        print(f"{len(findings.mistakes)} mistakes in {findings.accepted} accepted messages")
    else:
        print(
            f"nothing was lost: {findings.accepted} accepted messages are in their conversations once each and "
            f"were answered once each, in {findings.turns} turns"
        )


def _status(status: int, problem: str) -> str:
    return "accepted" if status == 202 else f"{status} {problem}"


def _row(title: str, values: Sequence[float], unit: str, digits: int = 0) -> None:
    ratio = f"{values[-1] / values[0]:>9.1f}" if values[0] else ""
    print(f"{title:<34}" + "".join(f"{value:>{12 - len(unit)}.{digits}f}{unit}" for value in values) + ratio)
