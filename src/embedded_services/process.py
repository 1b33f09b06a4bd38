"""One server process: started, known to be ready from its own log, and never left behind.

Linux ends a process with its parent by `PR_SET_PDEATHSIG`, and "parent" there is the *thread* that forked
(prctl(2)). A server started from a short-lived thread would die with that thread. So each server has a
supervising thread of its own, which forks it, reads its log to the end and reaps it: that thread lives exactly as
long as the server does. Elsewhere than on Linux a killed parent leaves its servers behind.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from embedded_services.errors import ServiceError, describe

KEPT_LINES = 50
END_LINES = 10
"""So many of them say why a server ended."""
START_SECONDS = 60.0
STOP_SECONDS = 60.0
KILL_SECONDS = 10.0

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Account:
    """The user and group that a server is started as, where it is not the caller's own."""

    uid: int
    gid: int


def die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """Make a `preexec_fn` that binds the new process to the forking thread; None where that does not exist."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def bind() -> None:
        # The second half closes the gap in which the parent may have died before the signal was asked for.
        if prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0) != 0 or os.getppid() != parent:
            os._exit(1)

    return bind


class ServerProcess:
    """A running server: its process, its supervising thread and the last lines of its log."""

    def __init__(
        self,
        name: str,
        ready_line: str,
        cures: Mapping[str, str] | None = None,
        on_end: Callable[[ServiceError], None] | None = None,
    ) -> None:
        self._name = name
        self._ready_line = ready_line
        self._cures = dict(cures or {})
        self._on_end = on_end
        self._log: deque[str] = deque(maxlen=KEPT_LINES)
        self._settled = threading.Event()
        self._ready = False
        self._asked_to_end = False
        self._refusal: BaseException | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._supervisor: threading.Thread | None = None

    @classmethod
    def start(
        cls,
        name: str,
        argv: Sequence[str],
        *,
        ready_line: str,
        death_signal: signal.Signals,
        environment: Mapping[str, str],
        account: Account | None = None,
        held_descriptors: Sequence[int] = (),
        cures: Mapping[str, str] | None = None,
        on_end: Callable[[ServiceError], None] | None = None,
        seconds: float = START_SECONDS,
    ) -> ServerProcess:
        """Start `argv` and return when its log holds `ready_line`.

        `death_signal` is what the server gets when this process dies. `cures` maps a text of the server's log to
        what to do about it. `on_end` is called, in another thread, when the server ends later and nobody asked it
        to: with what to say. Raises ServiceError, with nothing left running, when the server ends or `seconds`
        pass before it is ready.
        """
        server = cls(name, ready_line, cures, on_end)
        server._supervisor = threading.Thread(
            target=server._supervise,
            args=(list(argv), death_signal, dict(environment), account, tuple(held_descriptors)),
            name=f"{name} supervisor",
            daemon=True,
        )
        server._supervisor.start()
        try:
            settled = server._settled.wait(seconds)
        except BaseException:
            server.kill()
            raise
        if server._ready:
            return server
        server.kill()
        raise ServiceError(server._explain_failed_start(settled, seconds))

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process is not None, "a server that was started has a process"
        return self._process.pid

    def log(self) -> tuple[str, ...]:
        """The last lines of the server's log."""
        return tuple(self._log)

    def stop(self, stop_signal: signal.Signals, *, seconds: float = STOP_SECONDS) -> None:
        """Ask the server to end and return when it and all of its own processes have ended. May be called again.

        Raises ServiceError when it had to be killed after `seconds`.
        """
        if self._gone():
            return
        assert self._process is not None
        self._asked_to_end = True
        self._process.send_signal(stop_signal)
        self._join(seconds)
        if self._gone():
            return
        self.kill()
        raise ServiceError(
            describe(
                f"{self._name} did not stop within {seconds:g} s of {stop_signal.name} and was killed.",
                log=self.log(),
                cure="Its data is recovered at the next start. If this repeats, see above what it waited for.",
            )
        )

    def kill(self) -> None:
        """End the server at once. The log's end is awaited, since the server's own children hold it open."""
        self._asked_to_end = True  # also for a supervisor that has yet to fork
        if self._process is not None and not self._gone():
            self._process.kill()
        self._join(KILL_SECONDS)

    def _gone(self) -> bool:
        return self._supervisor is None or not self._supervisor.is_alive()

    def _join(self, seconds: float) -> None:
        if self._supervisor is not None:
            self._supervisor.join(seconds)

    def _supervise(
        self,
        argv: list[str],
        death_signal: signal.Signals,
        environment: dict[str, str],
        account: Account | None,
        held_descriptors: tuple[int, ...],
    ) -> None:
        try:
            # A session of its own: Ctrl-C in a terminal is for the host, which then stops its servers in order.
            self._process = process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=die_with_parent(death_signal),
                pass_fds=held_descriptors,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        except (OSError, subprocess.SubprocessError) as refusal:
            self._refusal = refusal
            self._settled.set()
            return
        if self._asked_to_end:
            process.kill()
        assert process.stdout is not None
        with process.stdout as output:
            for raw in output:
                line = raw.decode(errors="replace").rstrip()
                self._log.append(line)
                if not self._ready and self._ready_line in line:
                    self._ready = True
                    self._settled.set()
        process.wait()
        self._settled.set()
        if self._ready and not self._asked_to_end and self._on_end is not None:
            self._on_end(ServiceError(self._explain_end()))

    def _explain_end(self) -> str:
        return describe(
            f"{self._name} ended {self._how()}, and nobody had asked it to.",
            log=self.log()[-END_LINES:],
            cure=self._cure("Start again. If this repeats, its log says why, or the system's does."),
        )

    def _explain_failed_start(self, settled: bool, seconds: float) -> str:
        if self._refusal is not None:
            return describe(
                f"{self._name} could not be started: {self._refusal}",
                cure="Check that its program may be executed here, and that root may switch users here.",
            )
        log, cure = self.log(), self._cure("The log above says what to change.")
        if not settled:
            return describe(f"{self._name} was not ready within {seconds:g} s and was killed.", log=log, cure=cure)
        return describe(f"{self._name} ended {self._how()} before it was ready.", log=log, cure=cure)

    def _cure(self, otherwise: str) -> str:
        text = "\n".join(self._log)
        return next((cure for sign, cure in self._cures.items() if sign in text), otherwise)

    def _how(self) -> str:
        status = self._process.returncode if self._process is not None else None
        return f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
