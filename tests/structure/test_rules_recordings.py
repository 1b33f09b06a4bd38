"""The recordings rule on invented folders: orphans, sizes, cut files and unknown formats are named; healthy
ones are left alone."""

from __future__ import annotations

import pytest
from rules import recordings
from rules.files import SourceFile

GOOD = '{"format": 1, "exchanges": []}\n'
CASES = (
    SourceFile("evals/integration/recall.yaml", "purpose: x\n"),
    SourceFile("evals/integration/test_steering.py", "def helper(): ...\nasync def test_stop(run): ...\n"),
    SourceFile("evals/fixtures/accounts/standard.yaml", "purpose: x\n"),
)


def seen(path: str, text: str = GOOD) -> list[str]:
    found = recordings.check([*CASES, SourceFile(path, text)])
    assert all(finding.path == path for finding in found)
    return [finding.what.split(":")[0].split(" '")[0] for finding in found]


@pytest.mark.parametrize(
    "path",
    [
        "evals/integration/recall.recording.json",
        "evals/integration/recall.trial-3.recording.json",
        "evals/integration/test_steering.test_stop.recording.json",
        "evals/integration/test_steering.test_stop.trial-12.recording.json",
    ],
)
def test_a_recording_of_a_case_is_left_alone(path: str) -> None:
    assert seen(path) == []


@pytest.mark.parametrize(
    "path",
    [
        "evals/integration/recal.recording.json",
        "evals/behavioral/recall.recording.json",
        "evals/integration/recall.trial-0.recording.json",
        "evals/integration/recall.yaml.recording.json",
        "evals/integration/test_steering.recording.json",
        "evals/integration/test_steering.helper.recording.json",
        "evals/integration/test_steering.test_start.recording.json",
        "evals/fixtures/accounts/standard.recording.json",
    ],
)
def test_a_recording_without_a_case_is_an_orphan(path: str) -> None:
    assert seen(path) == ["belongs to no case"]


def test_a_function_of_a_file_that_does_not_parse_still_owns_its_recording() -> None:
    broken = SourceFile("evals/x/test_a.py", "async def test_one(run):\n    oh no\n")
    assert recordings.cases([broken]) == {"evals/x/test_a.test_one"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (GOOD[:20], "is not JSON"),
        ("", "is not JSON"),
        ("[]", "has the format None; known are"),
        ("{}", "has the format None; known are"),
        ('{"format": 2}', "has the format 2; known are"),
        ('{"format": true}', "has the format True; known are"),
        ('{"format": "1"}', "has the format"),
    ],
)
def test_a_recording_that_cannot_be_read_is_named(text: str, what: str) -> None:
    assert seen("evals/integration/recall.recording.json", text) == [what]


def test_a_recording_larger_than_the_bound_is_named() -> None:
    file = SourceFile("evals/integration/recall.recording.json", GOOD)
    size = len(GOOD)
    assert recordings.check([*CASES, file], largest=size) == []
    (finding,) = recordings.check([*CASES, file], largest=size - 1)
    assert finding.what == f"has {size} bytes, more than {size - 1}"


def test_every_bad_recording_is_reported_and_other_files_are_not_recordings() -> None:
    files = [
        *CASES,
        SourceFile("evals/integration/a.recording.json", GOOD),
        SourceFile("evals/integration/recall.recording.json", "{"),
        SourceFile("evals/fixtures/conversations/planning.json", "{"),
    ]
    assert [finding.path for finding in recordings.check(files)] == [
        "evals/integration/a.recording.json",
        "evals/integration/recall.recording.json",
    ]
