"""Put a trial's record together: the verdict with its one reason, what was found, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from seatrial.report.record import CallRecord, RequestRecord, TrialRecord
from seatrial.verdict import Finding, Verdict, decide

COMMAND = "./pants"
"""How people start the build, where it says nothing else of a trial."""


def record_again(command: str, address: str) -> str:
    """Word the command that makes a new recording, as a cure."""
    return f"record: {command} record {shlex.quote(address)}"


def trial_record(
    findings: Sequence[Finding],
    *,
    address: str,
    case: str,
    kind: str,
    seal: Mapping[str, Any],
    contracts: Mapping[str, int],
    calls: Sequence[CallRecord],
    requests: Sequence[RequestRecord],
    repeats: int = 1,
    command: str = COMMAND,
) -> TrialRecord:
    """Return the record of a trial in which these things were found.

    ``command`` starts the build for this trial's target: with it begins what runs the trial again, and what makes a
    new recording, which is the cure of what has none that fits, where the finding names no other.
    """
    verdict, reason = decide(tuple(findings))
    summary, detail, cure = ("", "", "") if reason is None else (reason.reason, reason.detail, reason.cure)
    invalid = [finding.reason for finding in findings if finding.cause.verdict is Verdict.INVALID]
    if verdict is Verdict.INVALID:
        summary = f"{len(invalid)} mistake(s) in the case's files"
        detail = "\n".join(invalid)
    if verdict in (Verdict.UNRECORDED, Verdict.STALE):
        cure = cure or record_again(command, address)
    return TrialRecord(
        address=address,
        case=case,
        verdict=verdict.value,
        reason=summary,
        detail=detail,
        cure=cure,
        rerun=f"{command} test {shlex.quote(address)}",
        seal=seal,
        contracts=contracts,
        findings=tuple({"verdict": f.cause.verdict.value, "reason": f.reason} for f in findings),
        calls=tuple(calls),
        requests=tuple(requests),
        repeats=repeats,
        kind=kind,
    )
