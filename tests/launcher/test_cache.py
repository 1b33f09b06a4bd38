"""One set-up at a time, and nothing half-written, whatever kills it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from launcher import cache
from launcher.report import SetUpError

HOLDER = """
import sys
from pathlib import Path
from launcher import cache
with cache.exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
BUILDER = """
import sys
from pathlib import Path
from launcher import cache
with cache.building(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("written")
    print(folder, flush=True)
    sys.stdin.read()
"""


def start(program: str, argument: Path, path: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(argument)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


@pytest.mark.parametrize("killed", [False, True])
def test_a_second_set_up_waits_until_the_first_ends_or_dies(
    tmp_path: Path, launcher_process_path: str, killed: bool
) -> None:
    with (
        start(HOLDER, tmp_path, launcher_process_path) as first,
        start(HOLDER, tmp_path / "other", launcher_process_path) as unrelated,
    ):
        assert line_of(first.stdout) == "held"
        assert line_of(unrelated.stdout) == "held"
        with start(HOLDER, tmp_path, launcher_process_path) as second:
            assert line_of(second.stderr) == "pants: another start is setting up; waiting for it."
            if killed:
                first.send_signal(signal.SIGKILL)
            else:
                first.communicate("")
            assert line_of(second.stdout) == "held"
            second.communicate("")
        unrelated.communicate("")


def test_what_was_built_appears_whole_under_its_name(tmp_path: Path) -> None:
    final = tmp_path / "pants" / "abc"
    with cache.building(final) as folder:
        (folder / "file").write_text("whole")
        assert not final.exists()
    assert (final / "file").read_text() == "whole"
    assert list(final.parent.iterdir()) == [final]


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    final = tmp_path / "pants" / "abc"
    with pytest.raises(ValueError, match="halfway"), cache.building(final) as folder:
        (folder / "file").write_text("half")
        raise ValueError("halfway")
    assert list(final.parent.iterdir()) == []


def test_a_killed_build_is_never_taken_for_whole_and_is_swept_up(tmp_path: Path, launcher_process_path: str) -> None:
    final = tmp_path / "pants" / "abc"
    with start(BUILDER, final, launcher_process_path) as builder:
        leftover = Path(line_of(builder.stdout))
        builder.kill()
    assert not final.exists()
    assert (leftover / "half").exists()
    cache.sweep(tmp_path)
    assert list(final.parent.iterdir()) == []


def test_an_unusable_cache_folder_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetUpError) as error, cache.exclusive(tmp_path / "file" / "launcher"):
        pass
    assert f"'{tmp_path}/file/launcher'" in error.value.what
    assert "SEATRIAL_CACHE" in error.value.next_step
