"""Runs a tool quietly and keeps what it said, for the error message if it fails."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Finished(NamedTuple):
    """`code` is None when the tool could not be started or took too long; `output` then says so."""

    code: int | None
    output: str


def run(
    command: list[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    seconds: float | None = None,
) -> Finished:
    """stdout and stderr together, no stdin. Never raises for what the tool does."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finished(None, str(error))
    return Finished(done.returncode, done.stdout.decode("utf-8", "replace"))
