"""A record as a person reads it in a terminal."""

from __future__ import annotations

from seatrial.report.record import TrialRecord
from seatrial.verdict import Verdict


def render(record: TrialRecord) -> str:
    """Word the record: the verdict and its one reason, what was said, each check, and what to run next.

    A pass is one line.
    """
    passed = record.verdict == Verdict.PASSED.value
    lines = [f"{record.verdict.upper()} {record.address}" + ("" if passed else f": {record.reason}")]
    if record.seal.get("policy") == "off":
        lines.append("  NOT SEALED: the network was not cut off (policy 'off'); this verdict proves less")
    if passed:
        return "\n".join(lines)
    lines += [f"  {line}" for line in record.detail.splitlines()]
    for number, call in enumerate(record.calls, start=1):
        lines += ["", f"  turn {number}: {', '.join(call.statuses) or 'no turn ran'}"]
        lines += [f"    {who}: {text}" for who, text in call.transcript]
        lines += [
            f"    tool {tool['name']}({tool['input']}) -> {tool['status']}: {tool['output']}"
            for tool in call.tool_calls
        ]
        for check in call.checks:
            mark = "holds" if check.holds else "DOES NOT HOLD"
            lines.append(
                f"    {check.what} {mark}: expected {check.expected}" + ("" if check.holds else f", seen {check.seen}")
            )
    told = {record.reason, *record.detail.splitlines()}
    others = [finding for finding in record.findings if finding["reason"] not in told]
    if others:
        lines += ["", "  also:"] + [f"    {finding['verdict']}: {finding['reason']}" for finding in others]
    lines += ["", f"  {record.cure}"] if record.cure else []
    lines += [f"  rerun: ./pants test {record.address}"]
    return "\n".join(lines)
