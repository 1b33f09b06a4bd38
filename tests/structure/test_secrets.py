"""Gate: cases, fixtures and recordings hold no credential, no real person's address and no path of a machine
(gateway.md 8)."""

from __future__ import annotations

from pathlib import Path

from rules import credentials
from rules.files import nothing_to_check, read
from rules.finding import hold

FILES = read(Path.cwd(), ["evals"])


def test_nothing_below_evals_looks_like_a_secret() -> None:
    hold(
        "secrets",
        nothing_to_check(FILES, "evals") + [finding for file in FILES for finding in credentials.check(file)],
    )
