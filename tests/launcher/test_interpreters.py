"""An interpreter counts when it runs, never because a file has its name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from launcher import interpreters

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
REAL = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_shim_that_works_is_resolved_to_the_binary_behind_it(tmp_path: Path) -> None:
    shim = executable(tmp_path / f"python{VERSION}", f'exec "{REAL}" "$@"')
    assert interpreters.probe(shim, VERSION) == REAL


def test_a_shim_that_fails_is_passed_over_for_the_next_on_path(tmp_path: Path) -> None:
    executable(tmp_path / "shims" / f"python{VERSION}", f"echo 'python{VERSION}: command not found' >&2; exit 127")
    executable(tmp_path / "bin" / f"python{VERSION}", f'exec "{REAL}" "$@"')
    path = os.pathsep.join([str(tmp_path / "shims"), "relative", "", str(tmp_path / "bin")])
    assert interpreters.find(VERSION, {"PATH": path, "HOME": str(tmp_path)}) == REAL


def test_another_version_under_the_wanted_name_is_refused(tmp_path: Path) -> None:
    imposter = executable(tmp_path / "python3.7", f'exec "{REAL}" "$@"')
    assert interpreters.probe(imposter, "3.7") is None


def test_an_interpreter_without_its_standard_library_is_refused(tmp_path: Path) -> None:
    crippled = executable(tmp_path / f"python{VERSION}", f'PYTHONHOME="{tmp_path}" exec "{REAL}" "$2" "$3"')
    assert interpreters.probe(crippled, VERSION) is None


def test_a_warning_before_the_answer_does_no_harm(tmp_path: Path) -> None:
    noisy = executable(tmp_path / f"python{VERSION}", f'echo "some warning" >&2; exec "{REAL}" "$@"')
    assert interpreters.probe(noisy, VERSION) == REAL


def test_path_comes_before_pyenv_and_uv_and_newer_patches_before_older(tmp_path: Path) -> None:
    pyenv = tmp_path / ".pyenv" / "versions"
    uv = tmp_path / ".local" / "share" / "uv" / "python"
    expected = [
        executable(tmp_path / "bin" / "python3.9", ""),
        executable(pyenv / "3.9.18" / "bin" / "python3.9", ""),
        executable(pyenv / "3.9.2" / "bin" / "python3.9", ""),
        executable(uv / "cpython-3.9.21-linux-x86_64-gnu" / "bin" / "python3.9", ""),
    ]
    executable(pyenv / "3.11.7" / "bin" / "python3.11", "")
    found = interpreters.candidates("3.9", {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)})
    assert list(found) == expected


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert interpreters.find("3.9", {"PATH": str(tmp_path), "HOME": str(tmp_path)}) is None
