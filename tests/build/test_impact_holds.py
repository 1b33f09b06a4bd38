"""What ran is held against what was predicted: whatever had passed, and ran again, has to have been named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path("build-support/ci/impact_holds.py").resolve()


def verdicts(*found: tuple[str, str, str]) -> dict[str, object]:
    return {"format": 1, "verdicts": [{"address": a, "verdict": v, "origin": o} for a, v, o in found]}


def hold(folder: Path, before: object, after: object, impact: object) -> subprocess.CompletedProcess[str]:
    for name, document in (("before", before), ("after", after), ("impact", impact)):
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    command = [sys.executable, str(SCRIPT), "before", "after", "impact"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


BEFORE = verdicts(("a", "passed", "ran in 1 s"), ("b", "passed", "ran in 1 s"), ("c", "failed", "ran in 1 s"))


def test_what_was_predicted_may_run_or_not(tmp_path: Path) -> None:
    after = verdicts(("a", "failed", "ran in 1 s"), ("b", "passed", "cached locally"), ("c", "failed", "ran in 1 s"))
    done = hold(tmp_path, BEFORE, after, {"format": 1, "affected": [{"address": "a"}, {"address": "b"}]})
    assert (done.returncode, done.stderr) == (0, "")
    assert "| predicted | 2 |\n| predicted, and ran | 1 |\n| predicted, and came from the cache | 1 |" in done.stdout
    assert "| ran, and had not passed before | 1 |" in done.stdout


def test_what_ran_again_unpredicted_is_named(tmp_path: Path) -> None:
    after = verdicts(("a", "passed", "ran in 1 s"), ("b", "passed", "cached remotely"), ("new", "passed", "ran in 1 s"))
    done = hold(tmp_path, BEFORE, after, {"format": 1, "affected": []})
    assert done.returncode == 1
    assert "`a` ran again, and was not predicted." in done.stdout
    assert "`b`" not in done.stdout and "`new`" not in done.stdout


@pytest.mark.parametrize("impact", [[], {"format": 2, "affected": []}])
def test_a_document_of_another_kind_is_refused(tmp_path: Path, impact: object) -> None:
    done = hold(tmp_path, BEFORE, BEFORE, impact)
    assert done.returncode == 2
    assert "'impact' is no document of format 1" in done.stderr


def test_a_missing_document_is_named(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "x", "y", "z"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "'x' cannot be read" in done.stderr
