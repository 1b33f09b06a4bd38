"""Put a trial's record together: the verdict with its one reason, what was found, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seatrial.report.record import CallRecord, RequestRecord, TrialRecord
from seatrial.verdict import Finding, Verdict, decide


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
    record_command: str = "",
) -> TrialRecord:
    """Return the record of a trial in which these things were found.

    ``record_command`` is what makes a new recording: the cure of what has none that fits, where the finding names no
    other.
    """
    verdict, reason = decide(tuple(findings))
    summary, detail, cure = ("", "", "") if reason is None else (reason.reason, reason.detail, reason.cure)
    invalid = [finding.reason for finding in findings if finding.cause.verdict is Verdict.INVALID]
    if verdict is Verdict.INVALID:
        summary = f"{len(invalid)} mistake(s) in the case's files"
        detail = "\n".join(invalid)
    if verdict in (Verdict.UNRECORDED, Verdict.STALE):
        cure = cure or record_command
    return TrialRecord(
        address=address,
        case=case,
        verdict=verdict.value,
        reason=summary,
        detail=detail,
        cure=cure,
        seal=seal,
        contracts=contracts,
        findings=tuple({"verdict": f.cause.verdict.value, "reason": f.reason} for f in findings),
        calls=tuple(calls),
        requests=tuple(requests),
        repeats=repeats,
        kind=kind,
    )
