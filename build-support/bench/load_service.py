"""The service under load: `python -m bosun serve` with stores of its own, as a user starts it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

START_SECONDS = 120.0
END_SECONDS = 120.0
HERE = Path(__file__).resolve().parent
_TICKS = os.sysconf("SC_CLK_TCK")
_LISTENS = re.compile(r"Uvicorn running on http://127\.0\.0\.1:(\d+)")


class ServiceFailed(Exception):
    """The service does not run, or not as it has to for its times to mean something. The message says why."""


@dataclass(frozen=True)
class ModelEndpoint:
    """Where the model answers, and its process."""

    url: str
    pid: int


@contextlib.contextmanager
def start_model() -> Iterator[ModelEndpoint]:
    """Run the endpoint until the block ends."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "load_model.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        if not port:
            raise ServiceFailed("the model endpoint did not start")
        yield ModelEndpoint(f"http://127.0.0.1:{port}/v1", process.pid)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.terminate()
        process.wait()


class Service:
    """The running service. Leaving the block stops it, and with it its stores."""

    port: int

    def __init__(self, root: Path, python: Path, place: Path, model_url: str) -> None:
        self._python, self._log = python, place / "serve.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BOSUN_", "PYTHON"))}
        self._environment = {
            **kept,
            "PYTHONPATH": str(root / "src"),
            "BOSUN_DATA_DIR": str(place / "data"),
            "BOSUN_MODEL_URL": model_url,
            "BOSUN_PORT": "0",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Service:
        self._require_environment()
        with self._log.open("wb") as log:
            # A session of its own: Ctrl-C is for the bench, which then ends the service in order.
            self._process = subprocess.Popen(
                [str(self._python), "-m", "bosun", "serve"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.port = self._wait_for_port()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Stop it in order, and by force when that takes too long."""
        if self._process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
                return

    def require_running(self) -> None:
        """Raise ServiceFailed when it has ended."""
        if self._process is None or self._process.poll() is not None:
            raise ServiceFailed(f"the service has ended:\n{self._end_of_log()}")

    def create_token(self, actor: str) -> str:
        """Make a token on the command line, as a user does."""
        scopes = ("--scope", "conversations:read", "--scope", "conversations:write")
        who = ("--actor", actor, "--name", actor.title(), "--account", "bench")
        made = subprocess.run(
            [str(self._python), "-m", "bosun", "token", "create", *who, *scopes],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if made.returncode != 0:
            raise ServiceFailed(f"no token was made:\n{made.stderr[-3000:]}")
        return made.stdout.strip()

    def cpu_seconds(self, model: int) -> dict[str, float]:
        """Return the CPU seconds of each part so far, those of ended processes that were waited for too."""
        assert self._process is not None
        seconds = {"Bosun": _own(self._process.pid), "PostgreSQL": 0.0, "Valkey": 0.0}
        for child in _children(self._process.pid):
            name = Path(f"/proc/{child}/comm").read_text(encoding="utf-8")
            for each in (child, *_children(child)):
                with contextlib.suppress(OSError):  # ended since
                    seconds["PostgreSQL" if "postgres" in name else "Valkey"] += _own(each, ended=each == child)
        return {**seconds, "model endpoint": _own(model), "load": time.process_time()}

    def _require_environment(self) -> None:
        cure = (
            "make the locked environment, and name its interpreter with --python:\n"
            "  python3.11 -m venv .venv && .venv/bin/pip install --require-hashes -r 3rdparty/python.lock"
        )
        if not self._python.exists():
            raise ServiceFailed(f"there is no '{self._python}': {cure}")
        tried = subprocess.run(
            [str(self._python), "-c", "import bosun.app, embedded_services"],
            env=self._environment,
            capture_output=True,
            text=True,
        )
        if tried.returncode != 0:
            raise ServiceFailed(f"'{self._python}' cannot run Bosun ({tried.stderr.strip()[-300:]}): {cure}")

    def _wait_for_port(self) -> int:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            self.require_running()
            found = _LISTENS.search(self._log.read_text(encoding="utf-8", errors="replace"))
            if found is not None:
                return int(found[1])
            time.sleep(0.1)
        raise ServiceFailed(f"the service did not listen within {START_SECONDS:g} s:\n{self._end_of_log()}")

    def _end_of_log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-3000:]


def _own(process: int, *, ended: bool = False) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11 : 15 if ended else 13]) / _TICKS


def _children(process: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text(encoding="utf-8").split())
    return found
