"""The runtime of the embedded model: an environment of its own in the user's cache, made from a hashed lock."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from seatrial.model_server.pip import HASHED, PipMissing, pip_command, pip_environment

PACKAGE = "xllamacpp"
DOWNLOAD_MB, DISK_MB = 35, 110  # of the packages of the lock for Linux on x86_64, most of it the runtime itself
LICENCE = (
    "xllamacpp and llama.cpp: MIT. The small packages: BSD, MIT, PSF, and MPL-2.0 (certifi), as each of them says."
)
_IMPORTED = "import httpx, uvicorn, xllamacpp"
_BUILDING = ".building-"


class RuntimeUnfit(Exception):
    """The runtime cannot be installed; the message says why, and what to do."""


Run = Callable[[Sequence[str], Path], int]
"""Runs a command with temporary files in a folder, and answers with its exit code."""


@dataclass(frozen=True)
class Runtime:
    """The environment that belongs to one lock and one Python, below `cache`."""

    lock: Path
    cache: Path

    @property
    def folder(self) -> Path:
        """Where it lies. Another lock or another Python has another folder."""
        named = [self.lock.read_bytes(), sys.version.encode(), os.path.realpath(sys.executable).encode()]
        return self.cache / "model_runtime" / hashlib.sha256(b"\0".join(named)).hexdigest()[:16]

    @property
    def python(self) -> Path | None:
        """Its interpreter; None when the environment is not there, or the Python that it was made of is gone."""
        path = self.folder / "bin" / "python"
        return path if path.exists() else None

    @property
    def packages(self) -> tuple[str, ...]:
        """What the lock names, for example `httpx==0.28.1`."""
        return tuple(re.findall(r"^([\w.-]+==[^ \\;]+)", self.lock.read_text(encoding="utf-8"), re.MULTILINE))

    def offer(self) -> str:
        """What a person has to know before it is installed."""
        (runtime,) = [package for package in self.packages if package.startswith(f"{PACKAGE}==")]
        return "\n".join(
            [
                f"The runtime: {runtime.replace('==', ' ')} (llama.cpp as a wheel), and {len(self.packages) - 1} small "
                "packages to serve it with",
                f"  size     about {DISK_MB} MB on disk; {DOWNLOAD_MB} MB to download",
                f"  from     pip's package index, each file by its hash in {self.lock}",
                f"  licence  {LICENCE}",
                f"  to       {self.folder}",
            ]
        )

    def install(self, run: Run | None = None) -> Path:
        """Make the environment beside its place, try it, and only then give it its name; answers with its interpreter.

        Whatever interrupts it leaves nothing that passes for the environment. One process at a time, and one that had
        to wait takes what the other has made. Raises RuntimeUnfit.
        """
        place = self.folder
        place.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(place.parent):
            for left in place.parent.glob(f"{_BUILDING}*"):
                shutil.rmtree(left)
            if self.python is None:
                with tempfile.TemporaryDirectory(prefix=_BUILDING, dir=place.parent) as temporary:
                    self._make(Path(temporary), run or run_pip)
                    if place.exists():
                        shutil.rmtree(place)
                    os.rename(Path(temporary) / "environment", place)
        assert self.python is not None
        return self.python

    def _make(self, temporary: Path, run: Run) -> None:
        environment = temporary / "environment"
        venv.EnvBuilder(with_pip=False, symlinks=True).create(environment)
        python = environment / "bin" / "python"
        try:
            pip = pip_command(self.cache)
        except PipMissing as error:
            raise RuntimeUnfit(str(error)) from error
        command = [*pip, "--python", str(python), "install", "--quiet", *HASHED, "--requirement", str(self.lock)]
        if (code := run(command, temporary)) != 0:
            raise RuntimeUnfit(
                f"pip could not install the runtime (exit {code}; what it said stands above). Nothing was kept.\n"
                "Check that pip reaches its index here: "
                f"{' '.join(pip)} download --no-deps --dest /tmp {self.packages[0]}"
            )
        tried = subprocess.run([python, "-I", "-c", _IMPORTED], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            raise RuntimeUnfit(
                f"The runtime was installed and does not run on this machine. Nothing was kept.\n{tried.stderr.strip()}"
            )


def run_pip(command: Sequence[str], temporary: Path) -> int:
    """Run pip with its words on the terminal."""
    return subprocess.run(command, env=pip_environment(os.environ, temporary), check=False).returncode


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
