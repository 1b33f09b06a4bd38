"""Word what a run has found: one line a verdict, and one table at the end."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial_build.core.lanes import command_in
from seatrial_build.core.verdicts import EXIT_CODES

MAX_RERUN = 20
"""A rerun command names at most so many targets; more are run by the command that was just used."""

VERDICTS_FORMAT = 1
"""The version of `verdicts.json`."""

CASES = ("eval_case", "eval_test")
"""The kinds of targets that run the agent."""


@dataclass(frozen=True)
class Entry:
    """One verdict of a run. ``origin`` says where it came from: ran, memoized, cached locally or remotely."""

    address: str
    kind: str
    verdict: str
    headline: str = ""
    origin: str = ""
    blocked_by: tuple[str, ...] = ()
    unsealed_by_choice: bool = False
    lane: str = ""

    @property
    def is_case(self) -> bool:
        return self.kind in CASES


def origin(source: str, elapsed_ms: int | None) -> str:
    """Word where a process result came from. Only a process that ran in this run has a time worth telling."""
    if source == "ran" and elapsed_ms is not None:
        return f"ran in {elapsed_ms / 1000:.2f} s"
    return {"hit_locally": "cached locally", "hit_remotely": "cached remotely"}.get(source, source)


def verdict_line(entry: Entry) -> str:
    """Return the one line of a verdict: address, verdict, origin, reason."""
    line = f"{entry.address} {entry.verdict}"
    if entry.origin:
        line += f" ({entry.origin})"
    if entry.unsealed_by_choice:
        line += " (SEAL OFF)"
    return line + (f": {entry.headline}" if entry.headline else "")


def as_json(entries: Iterable[Entry]) -> str:
    """Return the verdicts of a run for a program: `verdicts.json`. The fields are those of Entry."""
    found = [
        {**vars(entry), "blocked_by": list(entry.blocked_by)} for entry in sorted(entries, key=lambda e: e.address)
    ]
    return json.dumps({"format": VERDICTS_FORMAT, "verdicts": found}, indent=2, ensure_ascii=False) + "\n"


def table(entries: Iterable[Entry], *, command: str) -> str:
    """Return the table that ends a run. Empty when there is nothing to tell."""
    found = sorted(entries, key=lambda entry: (EXIT_CODES[entry.verdict], entry.address))
    if not found:
        return ""
    cases = [entry for entry in found if entry.is_case]
    others = [entry for entry in found if not entry.is_case]
    lines = []
    for title, group in (("cases", cases), ("gates and tests", others)):
        if group:
            lines.append(f"{title}: {_counts(group)}")
    bad = [entry for entry in found if entry.verdict != "passed"]
    width = max((len(entry.verdict) for entry in bad), default=0)
    for entry in bad:
        if entry.verdict != "blocked":
            lines.append(
                f"  {entry.verdict:<{width}}  {entry.address}" + (f": {entry.headline}" if entry.headline else "")
            )
    blocked = Counter(gate for entry in cases if entry.verdict == "blocked" for gate in entry.blocked_by)
    for gate, count in sorted(blocked.items()):
        lines.append(f"  {'blocked':<{width}}  {count} {'case' if count == 1 else 'cases'} by gate {gate}")
    if any(entry.unsealed_by_choice for entry in found):
        count = sum(entry.unsealed_by_choice for entry in found)
        lines.append(f"  SEAL OFF: {count} of these verdicts come from processes that could reach the network")
    unanswered = [(entry.lane, entry.address) for entry in cases if entry.verdict in ("unrecorded", "stale")]
    lines += [f"  record: {words}" for words in _commands(unanswered, command, "record")]
    lines += [f"  rerun: {words}" for words in _commands(_rerun(bad, blocked), command, "test")]
    return "\n".join(["", *lines, ""])


def _counts(group: Sequence[Entry]) -> str:
    """For example `3 passed (2 ran, 1 cached locally), 1 blocked`."""
    by_verdict: dict[str, list[Entry]] = {}
    for entry in group:
        by_verdict.setdefault(entry.verdict, []).append(entry)
    parts = []
    for verdict, members in by_verdict.items():
        origins = Counter(entry.origin.partition(" in ")[0] for entry in members if entry.origin)
        told = ", ".join(f"{count} {name}" for name, count in sorted(origins.items()))
        parts.append(f"{len(members)} {verdict}" + (f" ({told})" if told else ""))
    return ", ".join(parts)


def _rerun(bad: Sequence[Entry], blocked: Mapping[str, int]) -> list[tuple[str, str]]:
    """Name what to run again, with its lane: what did not pass by itself, and the gates that block others."""
    own = {(entry.lane, entry.address) for entry in bad if entry.verdict != "blocked"}
    known = {address for _, address in own}
    return sorted({*own, *(("", gate) for gate in blocked if gate not in known)})


def _commands(found: Sequence[tuple[str, str]], command: str, goal: str) -> list[str]:
    """Word a command for each lane that something was found in; none where it would name too many."""
    if len(found) > MAX_RERUN:
        return []
    lanes: dict[str, list[str]] = {}
    for lane, address in found:
        lanes.setdefault(lane, []).append(shlex.quote(address))
    return [f"{command_in(lane, command)} {goal} {' '.join(addresses)}" for lane, addresses in lanes.items()]
