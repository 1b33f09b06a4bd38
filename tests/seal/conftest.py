"""The seal as a test sees it: started as a process, judged by its exit status and by what it leaves behind.

These tests pass in the open and inside a seal: each one makes the situation that it is about.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SEAL = Path(__file__).parents[2] / "build-support" / "seal" / "seal.py"


@dataclass(frozen=True)
class Outcome:
    """What one call of the seal left."""

    status: int
    output: str
    errors: str
    files: list[str]
    proof: dict[str, Any] | None
    record: dict[str, Any] | None


KEY = "the key of what runs"


class Seal:
    """Calls of the seal with a directory of their own for proof and record."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def argv(
        self,
        *command: str,
        policy: str = "required",
        keep: tuple[Path, ...] = (),
        private: tuple[Path, ...] = (),
    ) -> list[str]:
        """The command line that runs `command` under the seal."""
        options = ["--policy", policy, "--proof", str(self.directory / "proof.json")]
        options += ["--record-dir", str(self.directory), "--address", "tests//case.yaml", "--key", KEY]
        for path in keep:
            options += ["--keep-socket", str(path)]
        for path in private:
            options += ["--private", str(path)]
        return [sys.executable, str(SEAL), *options, "--", *command]

    def run(
        self,
        *command: str,
        policy: str = "required",
        keep: tuple[Path, ...] = (),
        private: tuple[Path, ...] = (),
        within: Callable[[list[str]], list[str]] = lambda argv: argv,
        **more: Any,
    ) -> Outcome:
        """Run `command` under the seal; `within` makes the command line that starts the seal itself."""
        argv = within(self.argv(*command, policy=policy, keep=keep, private=private))
        self.directory.mkdir(exist_ok=True)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, **more)
        files = sorted(os.listdir(self.directory))
        proof, record = (
            json.loads((self.directory / name).read_text()) if name in files else None
            for name in ("proof.json", "record.json")
        )
        return Outcome(done.returncode, done.stdout, done.stderr, files, proof, record)

    def python(self, code: str, *arguments: str, **more: Any) -> Outcome:
        """Run Python code under the seal."""
        return self.run(sys.executable, "-c", code, *arguments, **more)


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    return Seal(tmp_path / "left")
