"""Where processes of Bosun are born: ``python -m bosun_binding.process_nursery CONTROL``.

To load Bosun takes longer than all that a trial does with it, and a trial that kills it needs it twice. So one process
loads it and does nothing with it. Each life is a fork of that one: a process of its own, with a memory of its own, that
any signal ends. A warden stands between them, who waits for one life and tells how it ended.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from bosun_binding import process_host


class Born:
    """A life that has begun."""

    def __init__(self, warden: socket.socket) -> None:
        self._warden = warden
        _, (self._life,), _, _ = socket.recv_fds(warden, 1, 1)
        self._code: int | None = None

    def ended(self) -> int:
        """Wait for its end. Return its exit code; the negative number of the signal that killed it."""
        if self._code is None:
            self._code = int(self._warden.recv(16))
            self._warden.close()
            os.close(self._life)
        return self._code

    def kill(self) -> None:
        """End it, whatever it does."""
        if self._code is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._life, signal.SIGKILL)
            self.ended()


class Nursery:
    """The process that has Bosun loaded. It ends with the one that made it."""

    def __init__(self) -> None:
        self._control, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(its.fileno())],
                pass_fds=(its.fileno(),),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._end)

    def bear(self, control: socket.socket, listener: socket.socket) -> Born:
        """Begin a life with these two sockets; see `process_host`. Blocks until Bosun is loaded."""
        ours, its = socket.socketpair()
        with its:
            socket.send_fds(self._control, [b"."], [its.fileno(), control.fileno(), listener.fileno()])
        return Born(ours)

    def _end(self) -> None:
        self._control.close()
        self._process.wait()


@cache
def nursery() -> Nursery:
    """Return the nursery of this process."""
    return Nursery()


def _serve(control: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for wardens
    while True:
        _, handed, _, _ = socket.recv_fds(control, 1, 3)
        if not handed:
            return
        _forked(lambda: _watch(*handed), closing=(control.fileno(),))  # noqa: B023
        for descriptor in handed:
            os.close(descriptor)


def _watch(told: int, control: int, listener: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    life = _forked(lambda: process_host.live(control, listener), closing=(told,))
    os.close(control)
    os.close(listener)
    with socket.socket(fileno=told) as trial:
        # A number of a process may be given to another one; this is the process, whenever it is used.
        socket.send_fds(trial, [b"."], [os.pidfd_open(life)])
        _, status = os.waitpid(life, 0)
        trial.send(str(os.waitstatus_to_exitcode(status)).encode())


def _forked(work: Callable[[], None], *, closing: tuple[int, ...]) -> int:
    """Do the work in a fork of this process, which ends with it. Return the number of the fork."""
    fork = os.fork()
    if fork:
        return fork
    code = 1
    try:
        for descriptor in closing:
            os.close(descriptor)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
