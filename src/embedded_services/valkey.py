"""Valkey, which speaks Redis' protocol, from its wheel: served on a Unix socket alone, and stopped."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from embedded_services.binaries import valkey_program
from embedded_services.errors import ServiceError, cure_of_full_disk, describe
from embedded_services.process import ServerProcess
from embedded_services.sockets import identify, require_short

READY_LINE = "Ready to accept connections"

_SHORT_WRITE = "Short write while writing to the AOF file"
"""What Valkey says, without a reason, when the last of a disk's space took a part of what it wrote."""

_CURES = {
    "Bad file format reading the append only file": (
        "The append-only file is damaged: restore it, or run valkey-check-aof --fix on a copy."
    ),
}


class Valkey:
    """A running Valkey. Stop it, or use it in a `with` statement."""

    def __init__(self, process: ServerProcess, socket_path: Path, durable: bool) -> None:
        self._process = process
        self._socket_path = socket_path
        self._socket = identify(socket_path)
        # Valkey looks for SIGTERM ten times a second. One that keeps nothing has nothing to do before it ends.
        self._stop_signal = signal.SIGTERM if durable else signal.SIGKILL

    @classmethod
    def start(
        cls, data_dir: Path, socket_path: Path, *, durable: bool, on_end: Callable[[ServiceError], None] | None = None
    ) -> Valkey:
        """Serve on `socket_path` with `data_dir` as the server's own directory and return when it accepts connections.

        `durable` says whether an answered write survives a crash of the machine: each is then flushed to the
        append-only file first. Without it nothing is written. `on_end` is called, in another thread, with what to
        say when the server ends though nobody stopped it. Raises ServiceError.
        """
        program = valkey_program()
        data_dir = data_dir.absolute()
        socket_path = require_short(socket_path)
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        socket_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_free(socket_path)
        claim = _claim(data_dir)
        try:
            process = ServerProcess.start(
                f"Valkey on '{socket_path}'",
                [str(program), *_options(data_dir, socket_path, durable)],
                ready_line=READY_LINE,
                death_signal=signal.SIGTERM,
                environment={"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"},
                held_descriptors=(claim,),
                cures={**_CURES, **cure_of_full_disk(data_dir, _SHORT_WRITE)},
                on_end=on_end,
            )
        except BaseException:
            socket_path.unlink(missing_ok=True)
            raise
        finally:
            os.close(claim)
        return cls(process, socket_path, durable)

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def url(self) -> str:
        """The URL that Redis clients take."""
        return f"unix://{quote(str(self._socket_path))}"

    def stop(self) -> None:
        """Stop the server and return when it has ended. May be called again. Raises ServiceError."""
        try:
            self._process.stop(self._stop_signal)
        finally:
            # Left by a server that was killed; a later server's socket at the same path stays.
            if self._socket is not None and identify(self._socket_path) == self._socket:
                self._socket_path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _options(data_dir: Path, socket_path: Path, durable: bool) -> list[str]:
    settings = {
        "port": "0",
        "unixsocket": str(socket_path),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "save": "",
        "appendonly": "yes" if durable else "no",
        "appendfsync": "always",
        "daemonize": "no",
        # The log must come to the supervising thread: readiness is read from it.
        "logfile": "",
        "loglevel": "notice",
    }
    return [part for name, value in settings.items() for part in (f"--{name}", value)]


def _require_free(socket_path: Path) -> None:
    """Valkey takes a socket path over without asking: a server that listens there would go on unseen."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(os.fspath(socket_path))
        except OSError:
            return
    raise ServiceError(
        describe(f"A server already listens on '{socket_path}'.", cure="Stop it, or choose another path.")
    )


def _claim(data_dir: Path) -> int:
    """Lock `data_dir` for the server's life: two servers on one append-only file would destroy it.

    The server inherits the descriptor, so that the lock goes when the last of the two processes has let go of it.
    """
    descriptor = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise ServiceError(
            describe(
                f"Another Valkey already runs on the data directory '{data_dir}'.",
                cure="Stop it, or give each server a directory of its own.",
            )
        ) from error
    return descriptor
