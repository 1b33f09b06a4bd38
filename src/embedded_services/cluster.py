"""PostgreSQL's clusters: made, checked before a start, and flushed."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

from embedded_services.account import hand_over, require_reachable, server_account
from embedded_services.binaries import postgres_program, server_version
from embedded_services.errors import ServiceError, describe
from embedded_services.process import KEPT_LINES, Account, die_with_parent

SOCKET_NAME = ".s.PGSQL.5432"

# Nothing of the caller's environment: PGDATA, PGOPTIONS, TZ or a locale would change what the server does.
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}

CURES = {
    'lock file "postmaster.pid" already exists': (
        "The cluster is already running: stop the server that the log names, or use its socket."
    ),
    f"{SOCKET_NAME}.lock": (
        "Another server uses this socket directory: stop it, or give each server a directory of its own."
    ),
    "could not look up effective user ID": (
        "This user has no entry in /etc/passwd. Run as a user that has one; in a user namespace, map to 65534 (nobody)."
    ),
    "shared memory": ("PostgreSQL needs a writable /dev/shm with free space: mount a tmpfs there, or enlarge it."),
    "database files are incompatible with server": (
        "Make a new cluster with initialize_cluster() in an empty directory."
    ),
}


def initialize_cluster(data_dir: Path) -> None:
    """Make a new cluster in `data_dir`, which must be empty or absent. Superuser `postgres`, no password.

    Nothing is flushed to disk (`--no-sync`): start(durable=True) does that. Raises ServiceError.
    """
    initdb = postgres_program("initdb")
    data_dir = data_dir.absolute()
    account = server_account()
    made = not data_dir.exists()
    if not made and any(data_dir.iterdir()):
        raise ServiceError(
            describe(
                f"No cluster was made in '{data_dir}': the directory is not empty.",
                cure="Name a directory that does not exist yet, or empty this one.",
            )
        )
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        if account is not None:
            require_reachable(initdb, account)
            require_reachable(data_dir, account)
            hand_over(data_dir, account)
        argv = [
            *(str(initdb), "-D", str(data_dir), "-U", "postgres", "-A", "trust"),
            *("-E", "UTF8", "--locale=C", "--no-sync", "--wal-segsize=1"),
        ]
        _run_tool(argv, account, f"No cluster was made in '{data_dir}'")
    except BaseException:
        if made:
            shutil.rmtree(data_dir, ignore_errors=True)
        raise


def flush(data_dir: Path, account: Account | None) -> None:
    """Write a stopped cluster to disk: initialize_cluster() and a copied template leave it in memory.

    Raises ServiceError.
    """
    if (data_dir / "postmaster.pid").exists():
        return  # It runs, or crashed and is flushed by its own recovery.
    argv = [str(postgres_program("initdb")), "--sync-only", "-D", str(data_dir)]
    _run_tool(argv, account, f"The cluster in '{data_dir}' was not flushed to disk")


def require_cluster(data_dir: Path) -> None:
    """Raise ServiceError when `data_dir` holds no cluster of this version of PostgreSQL."""
    try:
        found = (data_dir / "PG_VERSION").read_text(encoding="ascii").strip()
    except OSError as error:
        raise ServiceError(
            describe(
                f"'{data_dir}' is no PostgreSQL cluster: {error.strerror} (PG_VERSION).",
                cure="Make one with initialize_cluster(), or unpack a template there.",
            )
        ) from error
    version = server_version()
    if found != version.split(".")[0]:
        raise ServiceError(
            describe(
                f"The cluster in '{data_dir}' was made by PostgreSQL {found}; this is PostgreSQL {version}.",
                cure=(
                    "Dump it with the old version and restore it into a new cluster, or make a new "
                    "one with initialize_cluster()."
                ),
            )
        )


def _run_tool(argv: list[str], account: Account | None, failure: str) -> None:
    """Run one of PostgreSQL's own tools to its end. Raises ServiceError."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
            preexec_fn=die_with_parent(signal.SIGKILL),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            check=False,
        )
    except OSError as error:
        raise ServiceError(
            describe(
                f"{failure}: {error}",
                cure="Check that the program may be executed and that root may switch users here.",
            )
        ) from error
    if done.returncode != 0:
        log = done.stdout.decode(errors="replace").splitlines()[-KEPT_LINES:]
        text = "\n".join(log)
        cure = next((cure for sign, cure in CURES.items() if sign in text), "The log above says what to change.")
        raise ServiceError(describe(f"{failure}: '{argv[0]}' ended with status {done.returncode}.", log=log, cure=cure))
