"""One test function in a process of its own, as the build runs it: what becomes of it stands in its record."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from echo_process import echoing, environment

from seatrial.pytest_plugin import Eval
from seatrial.pytest_run import difference
from seatrial.verdict import Cause, Finding, Verdict

BINDING = "binding: invented_agent:InventedBinding\nroot: .\nplugins: {notes: agent.notes, other: agent.other}\n"
EVAL = """\
import pytest
from seatrial import web_message

runs = []

async def test_talks(run):
    runs.append(1)
    print("the test says", len(runs))
    conversation = await run(web_message("one"))
    assert [r.text for r in conversation.replies] == ["You said: one"]

async def test_changes(run):
    runs.append(1)
    await run(web_message("one"))
    assert len(runs) < 3

async def test_composes(agent):
    await (await agent(plugins=["notes"])).run(web_message("one"))

@pytest.mark.parametrize("word", ["one", "two"])
async def test_words(run, word):
    await run(web_message(word))

@pytest.mark.skip(reason="too slow")
async def test_skipped(run):
    await run(web_message("one"))

async def test_asks_for_what_is_not_there(nobody):
    pass

def test_says_nothing():
    pass

class TestOld:
    async def test_talks(self, run):
        await run(web_message("one"))
"""
ADDRESS = "evals/x:more#test_eval.py"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording of each function that passes."""
    folder = tmp_path_factory.mktemp("recorded")
    _write(folder, EVAL)
    options = ["-p", "seatrial.pytest_plugin", "-o", "asyncio_mode=auto"]
    options += ["--seatrial-binding=binding.yaml", "--seatrial-out=out", "--seatrial-recorded-at=2030-01-15T12:00:00Z"]
    with echoing() as url:
        subprocess.run(
            [sys.executable, "-m", "pytest", *options, f"--seatrial-upstream={url}", "test_eval.py"],
            cwd=folder,
            env=_environment(folder),
            capture_output=True,
        )
    for made in (folder / "out").glob("*/recording.json"):
        made.replace(folder / f"test_eval.{made.parent.name}.recording.json")
    assert (folder / "test_eval.test_talks.recording.json").exists()
    return folder


@pytest.fixture
def folder(recordings: Path, tmp_path: Path) -> Path:
    for each in recordings.glob("*.recording.json"):
        shutil.copy(each, tmp_path)
    return tmp_path


def _write(folder: Path, source: str) -> None:
    (folder / "binding.yaml").write_text(BINDING)
    (folder / "test_eval.py").write_text(source)
    (folder / "proof.json").write_text('{"policy": "required", "sealed": true}')


def _environment(folder: Path) -> dict[str, str]:
    return {**environment(folder), "SEATRIAL_SEAL_PROOF": str(folder / "proof.json")}


def run_one(
    folder: Path, function: str, *options: str, source: str = EVAL, sealed: bool = True
) -> tuple[dict[str, Any], str]:
    """Run one function; return its record and what was printed. The exit code has to fit the record."""
    _write(folder, source)
    if not sealed:
        (folder / "proof.json").unlink()
    named = [f"--function={function}", f"--address={ADDRESS}/{function}"]
    named += ["--binding=binding.yaml", "--out=out", "--cache=cache"]
    done = subprocess.run(
        [sys.executable, "-m", "seatrial.pytest_run", "test_eval.py", *named, *options],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
    )
    record = json.loads((folder / "out" / "record.json").read_text())
    assert done.returncode == Verdict(record["verdict"]).exit_code, done.stdout + done.stderr
    assert (folder / "out" / "junit.xml").exists()
    return record, done.stdout


def test_one_function_of_the_file_is_run_and_its_record_is_that_of_an_eval(folder: Path) -> None:
    record, printed = run_one(folder, "test_talks")
    assert (record["verdict"], record["kind"], record["address"]) == ("passed", "eval_test", f"{ADDRESS}/test_talks")
    assert [call["transcript"] for call in record["calls"]] == [[["person", "one"], ["agent", "You said: one"]]]
    assert printed == f"PASSED {ADDRESS}/test_talks\n"


def test_a_failure_shows_the_assertion_what_was_said_and_what_the_test_printed(folder: Path) -> None:
    record, printed = run_one(folder, "test_talks", source=EVAL.replace("You said: one", "Friday"))
    assert record["verdict"] == "failed"
    for part in ("the test says 1", "Friday", "person: one", f"rerun: ./pants test '{ADDRESS}/test_talks'"):
        assert part in printed


def test_repeats_that_end_alike_are_one_verdict(folder: Path) -> None:
    record, _ = run_one(folder, "test_talks", "--repeat=4", "--beside-busy-core")
    assert (record["verdict"], record["repeats"]) == ("passed", 4)


def test_a_repeat_that_ends_otherwise_is_broken_and_says_which(folder: Path) -> None:
    record, _ = run_one(folder, "test_changes", "--repeat=5")
    assert (record["verdict"], record["reason"]) == ("broken", "repeat 3 ended failed, the first run passed")


def test_requests_with_other_bytes_are_a_difference_although_the_verdict_is_the_same() -> None:
    failed = [Finding(Cause.FAILED, "no")]
    assert difference(Eval(bodies=(b"a", b"b")), Eval(bodies=(b"a", b"b"))) == ""
    assert "byte for byte" in difference(Eval(bodies=(b"a", b"b")), Eval(bodies=(b"b", b"a")))
    assert difference(Eval(failed, bodies=(b"a",)), Eval(bodies=(b"a",))) == "ended passed, the first run failed"


def test_a_plugin_that_the_target_does_not_name_is_invalid_with_the_line_to_add(folder: Path) -> None:
    record, _ = run_one(folder, "test_composes", "--plugins=other")
    line = 'overrides={"test_eval.py/test_composes": {"plugins": ["other", "notes"]}}'
    assert record["verdict"] == "invalid"
    assert record["detail"].endswith(f"Add to the eval_tests in evals/x/BUILD: {line}")
    assert run_one(folder, "test_composes", "--plugins=other,notes")[0]["verdict"] == "passed"
    assert run_one(folder, "test_composes")[0]["verdict"] == "passed"


def test_a_plugin_that_the_target_names_and_nobody_knows_is_invalid(folder: Path) -> None:
    record, _ = run_one(folder, "test_composes", "--plugins=notes,othr")
    assert (record["verdict"], record["detail"]) == ("invalid", "there is no plugin 'othr'; did you mean 'other'?")


@pytest.mark.parametrize(
    ("function", "verdict", "part"),
    [
        ("test_words", "invalid", "'test_words' is parametrized"),
        ("TestOld", "invalid", "there is no function 'TestOld'"),
        ("test_talk", "invalid", "did you mean 'test_talks'"),
        ("test_skipped", "broken", "too slow"),
        ("test_asks_for_what_is_not_there", "broken", "could not be made ready"),
        ("test_says_nothing", "broken", "asked for no agent"),
    ],
)
def test_what_says_nothing_about_an_agent_never_passes(folder: Path, function: str, verdict: str, part: str) -> None:
    record, _ = run_one(folder, function)
    assert (record["verdict"], part in record["detail"] + record["reason"]) == (verdict, True), record


def test_a_file_that_cannot_be_loaded_is_invalid_and_says_where(folder: Path) -> None:
    record, _ = run_one(folder, "test_talks", source=f"import nowhere\n{EVAL}")
    assert (record["verdict"], record["reason"]) == ("invalid", "1 mistake(s) in the case's files")
    assert "No module named 'nowhere'" in record["detail"] and "test_eval.py:1" in record["detail"]


def test_a_recording_run_without_a_model_is_broken(folder: Path) -> None:
    record, _ = run_one(folder, "test_talks", "--record")
    assert (record["verdict"], "--upstream-socket" in record["reason"]) == ("broken", True)


def test_without_a_seal_nothing_is_run(folder: Path) -> None:
    record, _ = run_one(folder, "test_talks", sealed=False)
    assert (record["verdict"], record["calls"], record["requests"]) == ("unsealed", [], [])


def test_a_test_that_was_never_recorded_is_unrecorded_and_is_not_repeated(folder: Path) -> None:
    (folder / "test_eval.test_talks.recording.json").unlink()
    record, printed = run_one(folder, "test_talks", "--repeat=5", "--command=./pants --lane")
    assert record["verdict"] == "unrecorded"
    assert record["cure"] == f"record: ./pants --lane record '{ADDRESS}/test_talks'"
    assert record["rerun"] == f"./pants --lane test '{ADDRESS}/test_talks'"
    assert printed.count("the test says") == 1
