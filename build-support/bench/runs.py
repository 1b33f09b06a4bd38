"""One run of Pants in the copy: how long it took, what it cost, what it said."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_TABLE = re.compile(r"^(cases|gates and tests): (.+)$", re.MULTILINE)
_RAN = re.compile(r"(\d+) ran\b")
_END_SECONDS = 30


class RunFailed(Exception):
    """A run did not end as it has to for its time to mean something. The message holds what Pants printed."""


@dataclass(frozen=True)
class Run:
    """``wall`` and ``user`` are seconds; ``cases`` and ``others`` count the processes that really ran."""

    wall: float
    user: float
    cases: int
    others: int


class Pants:
    """Starts Pants in one folder, and ends its daemon."""

    def __init__(self, root: Path, store: Path) -> None:
        self._root = root
        self._environment = {**os.environ, "PANTS_LOCAL_STORE_DIR": str(store)}

    def test(self, *arguments: str, options: tuple[str, ...] = ()) -> Run:
        """Run the test goal. Raises RunFailed when Pants, or one of its verdicts, is not content."""
        before, daemon = _children_seconds(), self._daemon()
        daemon_before = 0.0 if daemon is None else _seconds_of(daemon)
        start = time.monotonic()
        output = self._run(["./pants", *options, "test", *arguments])
        wall = time.monotonic() - start
        now = self._daemon()
        user = _children_seconds() - before
        if now is not None and "--no-pantsd" not in options:
            user += _seconds_of(now) - (daemon_before if now == daemon else 0.0)
        told = dict(_TABLE.findall(output))
        counts = {title: sum(map(int, _RAN.findall(told.get(title, "")))) for title in ("cases", "gates and tests")}
        return Run(wall, user, counts["cases"], counts["gates and tests"])

    def _run(self, command: list[str]) -> str:
        process = subprocess.Popen(
            command,
            cwd=self._root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            output, _ = process.communicate()
        except BaseException:
            # Pants takes its processes back when it is interrupted, and not when it is killed.
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            raise
        if process.returncode != 0:
            raise RunFailed(f"'{' '.join(command)}' ended with {process.returncode}:\n{output[-6000:]}")
        return output

    def end(self) -> None:
        """End the daemon and wait until it is gone."""
        daemon = self._daemon()
        if daemon is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + _END_SECONDS
            try:
                os.kill(daemon, number)
                while time.monotonic() < deadline:
                    os.kill(daemon, 0)
                    time.sleep(0.05)
            except ProcessLookupError:
                return

    def _daemon(self) -> int | None:
        for file in self._root.glob(".pids/*/pantsd/pid"):
            text = file.read_text(encoding="utf-8").strip()
            if text.isdigit() and _is_ours(int(text), self._root):
                return int(text)
        return None


def _is_ours(process: int, root: Path) -> bool:
    try:
        return os.path.samefile(f"/proc/{process}/cwd", root)
    except OSError:
        return False


def _children_seconds() -> float:
    return os.times().children_user


def _seconds_of(process: int) -> float:
    """Return the user-mode seconds of a process and of the children that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[13])) / _TICKS
