"""What a change reaches, by which way, and how sure that is."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial_build.core.verdicts import EXIT_CODES

IMPACT_FORMAT = 1
"""The version of what `--json` prints."""

SAME, NEW, UNKNOWN = "same key", "new key", "unknown"
"""Whether a process would be what it was when its last record was written."""

MOST_STEPS = 12
"""Of a longer way the middle is left out."""


@dataclass(frozen=True)
class Step:
    """One edge: an address, the address that it depends on, and how that is known."""

    address: str
    needs: str
    reason: str


@dataclass(frozen=True)
class Affected:
    """One gate or case that a change reaches: the shortest way from it to a changed file, and its key.

    ``last`` is its verdict in its last record, ``failing_gates`` are those of its gates that did not pass last time.
    """

    address: str
    kind: str
    steps: tuple[Step, ...]
    cause: str
    key: str
    last: str = ""
    failing_gates: tuple[str, ...] = ()


def reach(
    roots: Iterable[str], dependents: Mapping[str, Sequence[str]], generators: Mapping[str, str]
) -> dict[str, str | None]:
    """Return what depends on the roots, each with the address that it was reached from; roots have None.

    The ways are the shortest. A generated target says nothing about its generator: by it all siblings would seem to
    have changed.
    """
    reached: dict[str, str | None] = {root: None for root in sorted(roots)}
    waiting = deque(reached)
    while waiting:
        address = waiting.popleft()
        for dependent in sorted(dependents.get(address, ())):
            if dependent not in reached and generators.get(address) != dependent:
                reached[dependent] = address
                waiting.append(dependent)
    return reached


def way(address: str, reached: Mapping[str, str | None]) -> list[str]:
    """Return the addresses from a reached one to its root."""
    found = [address]
    while True:
        behind = reached[found[-1]]
        if behind is None:
            return found
        found.append(behind)


def key_of(record: bytes | None, key: str) -> tuple[str, str]:
    """Compare a process's key with what its last record says. Return SAME, NEW or UNKNOWN, and the last verdict.

    An empty key is one that is not known.
    """
    try:
        data = json.loads(record or b"{}")
    except ValueError:
        data = {}
    if not isinstance(data, dict):
        data = {}
    verdict = data.get("verdict")
    last = verdict if isinstance(verdict, str) and verdict in EXIT_CODES else ""
    proof = data.get("seal")
    known = proof.get("key") if isinstance(proof, dict) else None
    if not key or not isinstance(known, str) or last != "passed":  # what did not pass runs again, whatever its key
        return UNKNOWN, last
    return (SAME if known == key else NEW), last


def worded(affected: Sequence[Affected], files: Sequence[str], notes: Sequence[str]) -> str:
    """Say it to a person: each with its way, then the counts, then what was marked for nothing."""
    lines: list[str] = []
    for each in affected:
        told = f"; it {each.last} last time" if each.last and each.last != "passed" else ""
        lines.append(f"{each.address}   {each.key}{told}")
        steps = each.steps
        if len(steps) > MOST_STEPS:
            half = MOST_STEPS // 2
            steps = (*steps[:half], Step("", "...", f"{len(steps) - 2 * half} more"), *steps[-half:])
        lines += [f"    -> {step.needs}   [{step.reason}]" for step in steps]
        lines.append(f"    == {each.cause}")
        lines += [f"    its gate {gate} did not pass last time" for gate in each.failing_gates]
    lines += notes
    keys = Counter(each.key for each in affected)
    counts = ", ".join(f"{keys[key]} {key}" for key in (NEW, SAME, UNKNOWN) if keys[key])
    plural = "" if len(files) == 1 else "s"
    lines.append(
        f"{len(files)} changed file{plural}: {len(affected)} gates and cases affected"
        + (f": {counts}" if counts else "")
    )
    lines += over_approximation(affected)
    return "\n".join(lines) + "\n"


def over_approximation(affected: Iterable[Affected]) -> list[str]:
    """Name the causes by which more was marked than has another key."""
    marked: Counter[str] = Counter()
    same: Counter[str] = Counter()
    for each in affected:
        marked[each.cause] += 1
        same[each.cause] += each.key == SAME
    return [f"  {cause}: {marked[cause]} marked, {count} with the same key" for cause, count in same.items() if count]


def as_json(affected: Sequence[Affected], files: Sequence[str], base: str, notes: Sequence[str]) -> str:
    """Say it to a program. The fields are those of Affected and Step."""
    document = {
        "format": IMPACT_FORMAT,
        "base": base,
        "files": list(files),
        "affected": [
            {**vars(each), "steps": [vars(step) for step in each.steps], "failing_gates": list(each.failing_gates)}
            for each in affected
        ],
        "notes": list(notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
