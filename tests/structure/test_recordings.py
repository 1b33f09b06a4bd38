"""Gate: every recording belongs to a case that exists, is of bounded size, and is JSON of a known format
(gateway.md 4, 7)."""

from __future__ import annotations

from pathlib import Path

from rules import recordings
from rules.files import nothing_to_check, read
from rules.finding import Finding, hold

ROOT = Path.cwd()
FILES = read(ROOT, ["evals"])


def test_every_recording_belongs_to_a_case_and_can_be_read() -> None:
    hold(
        "recordings",
        nothing_to_check((file for file in FILES if file.path.endswith(".yaml")), "evals") + recordings.check(FILES),
    )


def test_every_recording_is_text() -> None:
    read_as_text = {file.path for file in FILES}
    paths = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "evals").rglob(f"*{recordings.ENDING}"))]
    why = "what is not text cannot be read, reviewed or searched for secrets"
    hold(
        "recordings",
        [
            Finding(path, 0, "is not UTF-8", why, "restore it, or record the case again")
            for path in paths
            if path not in read_as_text
        ],
    )
