"""Hold what `./pants impact` predicted against what then ran.

usage: python3 build-support/ci/impact_holds.py BEFORE AFTER IMPACT

BEFORE and AFTER are the `dist/test/verdicts.json` of the common ancestor and of the change, IMPACT is what
`./pants impact --changed-since=REF --json` printed. Every gate and case that had passed before, and really ran
again after, has to be among those that were predicted. Prints the counts as a Markdown table, for a job's summary.
Ends with status 1 when something ran that was not predicted, and with 2 when a document cannot be read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FORMAT = 1


class Unreadable(Exception):
    """A document is missing or is not what it has to be. The message says which, and why."""


def held(before: dict[str, Any], after: dict[str, Any], impact: dict[str, Any]) -> tuple[list[str], dict[str, int]]:
    """Return what ran without having been predicted, and the counts of the rest."""
    passed = {each["address"] for each in before["verdicts"] if each["verdict"] == "passed"}
    ran = {each["address"] for each in after["verdicts"] if each["origin"].startswith("ran")}
    predicted = {each["address"] for each in impact["affected"]}
    return sorted(ran & passed - predicted), {
        "predicted": len(predicted),
        "predicted, and ran": len(predicted & ran),
        "predicted, and came from the cache": len(predicted & {each["address"] for each in after["verdicts"]} - ran),
        "ran, and had not passed before": len(ran - passed),
        "ran, had passed before, and was not predicted": len(ran & passed - predicted),
    }


def read(path: str) -> dict[str, Any]:
    """Read one of the documents. Raises Unreadable."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"'{path}' cannot be read: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Unreadable(f"'{path}' is no document of format {FORMAT}")
    return document


def main(arguments: list[str]) -> int:
    """Compare, and say it."""
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        surprises, counts = held(*map(read, arguments))
    except Unreadable as error:
        print(f"impact: {error}", file=sys.stderr)
        return 2
    print("| gates and cases | |\n|---|---|")
    for name, count in counts.items():
        print(f"| {name} | {count} |")
    for address in surprises:
        print(f"\n`{address}` ran again, and was not predicted.")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
