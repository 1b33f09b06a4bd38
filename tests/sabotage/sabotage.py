"""A copy of the repository with one edit in it, in which a case is run as the build runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path.cwd()
"""The sandbox's top, where `src` and `evals` lie as they do in the repository."""
BINDING = "evals/bosun_binding/binding.yaml"


@dataclass(frozen=True)
class Edit:
    """One text of one file gives way to another. Each stands there exactly once, or the edit is no longer one."""

    path: str
    old: str
    new: str


def copy_of_the_repository(place: Path) -> Path:
    """Return a copy of what a case is run from."""
    for folder in ("src", "evals"):
        shutil.copytree(HERE / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def verdict_of(case: str, place: Path, cache: Path, *edits: Edit) -> dict[str, Any]:
    """Apply the edits, run the case in a process of its own, take them back; return the case's record."""
    kept = {edit.path: (place / edit.path).read_text(encoding="utf-8") for edit in edits}
    try:
        for edit in edits:
            text = (place / edit.path).read_text(encoding="utf-8")
            assert text.count(edit.old) == 1, f"{edit.path} holds {edit.old!r} {text.count(edit.old)} times"
            (place / edit.path).write_text(text.replace(edit.old, edit.new), encoding="utf-8")
        return _run(case, place, cache)
    finally:
        for path, before in kept.items():
            (place / path).write_text(before, encoding="utf-8")


def _run(case: str, place: Path, cache: Path) -> dict[str, Any]:
    out, proof = place / "out", place / "proof.json"
    shutil.rmtree(out, ignore_errors=True)
    proof.write_text(json.dumps({"policy": "off"}), encoding="utf-8")  # this test is sealed itself
    paths = [str(place / "src"), str(place / "evals"), *(p for p in sys.path if "site-packages" in p)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SEATRIAL_SEAL_PROOF": str(proof),
    }
    command = [sys.executable, "-m", "seatrial.cases.run", case, "--binding", BINDING, "--out", str(out)]
    done = subprocess.run(
        [*command, "--cache", str(cache), "--address", case], cwd=place, env=environment, capture_output=True, text=True
    )
    assert (out / "record.json").exists(), done.stdout + done.stderr
    record: dict[str, Any] = json.loads((out / "record.json").read_text(encoding="utf-8"))
    record["printed"] = done.stdout
    return record
