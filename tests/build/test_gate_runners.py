"""What a gate's process leaves: a verdict that its tests deserve, and an exit code that fits it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUNNERS = Path.cwd() / "build-support/pants-plugins/seatrial_build/runners"
PROOF = {"sealed": True, "policy": "required"}


def run(runner: str, place: Path, *arguments: str, proof: object = PROOF) -> tuple[int, dict[str, Any]]:
    (place / "seal.json").write_text(json.dumps(proof))
    ended = subprocess.run(
        [sys.executable, str(RUNNERS / runner), *arguments, "--kind=unit_test", "--address=//a:b", "--out=out"],
        cwd=place,
        env={**os.environ, "SEATRIAL_SEAL_PROOF": "seal.json" if proof is not None else "absent.json"},
        capture_output=True,
    )
    return ended.returncode, json.loads((place / "out/record.json").read_bytes())


def gate(place: Path, source: str, **more: Any) -> tuple[int, dict[str, Any]]:
    (place / "test_it.py").write_text(source)
    return run("pytest_gate.py", place, "test_it.py", **more)


def test_tests_that_pass_pass_with_the_proof_in_the_record(tmp_path: Path) -> None:
    code, record = gate(tmp_path, "def test_a(): pass\n")
    assert (code, record["verdict"], record["seal"]) == (0, "passed", PROOF)
    assert (record["address"], record["kind"], record["tests"]["passed"]) == ("//a:b", "unit_test", 1)
    assert (tmp_path / "out/junit.xml").is_file()


def test_an_assertion_that_does_not_hold_is_failed_and_is_the_reason(tmp_path: Path) -> None:
    code, record = gate(tmp_path, "def test_a(): assert 1 == 2\ndef test_b(): assert 3 == 4\n")
    assert (code, record["verdict"]) == (13, "failed")
    assert record["reason"] == "test_it.py::test_a: assert 1 == 2 (and 1 more)"


BROKEN = {
    "a skipped test": "import pytest\ndef test_a(): pytest.skip('no docker')\ndef test_b(): pass\n",
    "a skipped module": "import pytest\npytest.skip('no docker', allow_module_level=True)\n",
    "no test": "x = 1\n",
    "a module that cannot be imported": "import no_such_module\n",
    "a syntax error": "def test_a(:\n",
    "a fixture that raises": "import pytest\n@pytest.fixture\ndef f(): raise OSError('no')\ndef test_a(f): pass\n",
    "a fixture that does not exist": "def test_a(nothing): pass\n",
    "an unknown marker": "import pytest\n@pytest.mark.slwo\ndef test_a(): pass\n",
    "an early exit": "import pytest\ndef test_a(): pytest.exit('enough', 0)\n",
    "a clean system exit while importing": "raise SystemExit(0)\n",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_run_that_proves_nothing_is_broken(tmp_path: Path, source: str) -> None:
    code, record = gate(tmp_path, source)
    assert (code, record["verdict"]) == (14, "broken")
    assert record["reason"]


def test_an_expected_failure_that_passes_is_failed(tmp_path: Path) -> None:
    code, record = gate(tmp_path, "import pytest\n@pytest.mark.xfail\ndef test_a(): pass\n")
    assert (code, record["verdict"]) == (13, "failed")


@pytest.mark.parametrize("proof", [None, [], {}, "sealed", {"sealed": False}])
def test_without_a_proof_of_its_seal_a_gate_runs_nothing(tmp_path: Path, proof: object) -> None:
    code, record = gate(tmp_path, "open('ran', 'w')\ndef test_a(): pass\n", proof=proof)
    assert (code, record["verdict"]) == (16, "unsealed")
    assert not (tmp_path / "ran").exists()


def test_equal_runs_leave_equal_records(tmp_path: Path) -> None:
    (tmp_path / "once").mkdir()
    (tmp_path / "again").mkdir()
    source = "def test_a(): pass\ndef test_b(): assert [1] == [2]\n"
    gate(tmp_path / "once", source)
    gate(tmp_path / "again", source)
    for name in ("record.json", "junit.xml"):
        assert (tmp_path / "once/out" / name).read_bytes() == (tmp_path / "again/out" / name).read_bytes()


def test_no_configuration_of_the_repository_says_how_a_gate_runs(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    code, record = gate(tmp_path, "def test_a(): assert False\n")
    assert (code, record["verdict"]) == (13, "failed")


def typing_gate(place: Path, source: str) -> tuple[int, dict[str, Any]]:
    (place / "shop").mkdir()
    (place / "shop/till.py").write_text(source)
    (place / "mypy.ini").write_text("[mypy]\n")
    return run("mypy_gate.py", place, "--config=mypy.ini", "--python-version=3.11", "--package=shop")


def test_packages_without_an_error_of_type_pass(tmp_path: Path) -> None:
    code, record = typing_gate(tmp_path, "def f(x: int) -> int:\n    return x\n")
    assert (code, record["verdict"], record["seal"]) == (0, "passed", PROOF)


def test_an_error_of_type_is_failed_and_is_the_reason(tmp_path: Path) -> None:
    code, record = typing_gate(tmp_path, "def f(x: int) -> str:\n    return x\n")
    assert (code, record["verdict"]) == (13, "failed")
    assert record["reason"].startswith("shop/till.py:2: error: Incompatible return value type")


def test_a_function_without_types_is_an_error(tmp_path: Path) -> None:
    assert typing_gate(tmp_path, "def f(x):\n    return x\n")[1]["verdict"] == "failed"


def test_a_package_without_files_is_broken(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    code, record = run("mypy_gate.py", tmp_path, "--config=mypy.ini", "--python-version=3.11", "--package=gone")
    assert (code, record["verdict"]) == (14, "broken")


def test_a_checker_that_cannot_run_is_broken(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/till.py").write_text("x = 1\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = no_such_plugin\n")
    code, record = run("mypy_gate.py", tmp_path, "--config=mypy.ini", "--python-version=3.11", "--package=shop")
    assert (code, record["verdict"]) == (14, "broken")
