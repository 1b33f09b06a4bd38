"""PostgreSQL from its wheel, served on a Unix socket alone, and stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from embedded_services.account import hand_over, require_reachable, require_writable, server_account
from embedded_services.binaries import postgres_program
from embedded_services.cluster import CURES, ENVIRONMENT, SOCKET_NAME, flush, require_cluster
from embedded_services.errors import ServiceError, cure_of_full_disk, describe
from embedded_services.process import ServerProcess
from embedded_services.sockets import require_short

READY_LINE = "database system is ready to accept connections"


class Postgres:
    """A running PostgreSQL. Stop it, or use it in a `with` statement."""

    def __init__(self, process: ServerProcess, socket_dir: Path, durable: bool) -> None:
        self._process = process
        self._socket_dir = socket_dir
        self._durable = durable

    @classmethod
    def start(
        cls, data_dir: Path, socket_dir: Path, *, durable: bool, on_end: Callable[[ServiceError], None] | None = None
    ) -> Postgres:
        """Serve the cluster in `data_dir` on a socket in `socket_dir` and return when it accepts connections.

        `durable` says whether a commit survives a crash of the machine; without it nothing is flushed. As
        root the server runs as `nobody` and the cluster's files are given to that user. `on_end` is called,
        in another thread, with what to say when the server ends though nobody stopped it. Raises
        ServiceError.
        """
        program = postgres_program("postgres")
        data_dir = data_dir.absolute()
        socket_path = require_short(socket_dir / SOCKET_NAME)
        _require_one_host(socket_path.parent)
        require_cluster(data_dir)
        account = server_account()
        socket_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account is not None:
            for path in (program, data_dir, socket_path.parent):
                require_reachable(path, account)
            require_writable(socket_path.parent, account)
            hand_over(data_dir, account)
        if durable:
            flush(data_dir, account)
        process = ServerProcess.start(
            f"PostgreSQL on '{data_dir}'",
            [str(program), "-D", str(data_dir), *_options(socket_path.parent, durable)],
            ready_line=READY_LINE,
            death_signal=_stop_signal(durable),
            environment=ENVIRONMENT,
            account=account,
            cures={**CURES, **cure_of_full_disk(data_dir)},
            on_end=on_end,
        )
        return cls(process, socket_path.parent, durable)

    @property
    def pid(self) -> int:
        """The process id of the server's first process."""
        return self._process.pid

    def url(self, database: str = "postgres") -> str:
        """The libpq URL of one database."""
        return f"postgresql://postgres@/{quote(database, safe='')}?host={quote(str(self._socket_dir), safe='')}"

    def stop(self) -> None:
        """Stop the server and all of its processes, and wait for it. May be called again. Raises ServiceError."""
        try:
            self._process.stop(_stop_signal(self._durable))
        finally:
            self._remove_leftovers()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _remove_leftovers(self) -> None:
        """Remove the socket of a server that was killed. Its lock file tells this server's from a later one's."""
        lock = self._socket_dir / f"{SOCKET_NAME}.lock"
        try:
            mine = lock.read_text(encoding="ascii").split("\n", 1)[0] == str(self.pid)
        except OSError:
            return
        if mine:
            (self._socket_dir / SOCKET_NAME).unlink(missing_ok=True)
            lock.unlink(missing_ok=True)


def _require_one_host(socket_dir: Path) -> None:
    """libpq reads a comma in `host` as the end of one host, and has no way to quote it."""
    if "," in str(socket_dir):
        raise ServiceError(
            describe(
                f"PostgreSQL's clients cannot name the socket directory '{socket_dir}': it contains a comma.",
                cure="Choose a directory without one.",
            )
        )


def _stop_signal(durable: bool) -> signal.Signals:
    """SIGINT is the fast shutdown with a checkpoint, SIGQUIT the immediate one without.

    Source: https://www.postgresql.org/docs/18/server-shutdown.html
    """
    return signal.SIGINT if durable else signal.SIGQUIT


def _options(socket_dir: Path, durable: bool) -> list[str]:
    """Settings on the command line, where they win over those in the cluster's own files."""
    flushing = "on" if durable else "off"
    quoted = '"' + str(socket_dir).replace('"', '""') + '"'
    settings = {
        "listen_addresses": "",
        "port": "5432",
        "unix_socket_directories": quoted,  # a list, in which spaces separate
        "unix_socket_permissions": "0700",
        "fsync": flushing,
        "synchronous_commit": flushing,
        "full_page_writes": flushing,
        # The log must come to the supervising thread, in English: readiness is read from it.
        "logging_collector": "off",
        "log_destination": "stderr",
        "lc_messages": "C",
    }
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
