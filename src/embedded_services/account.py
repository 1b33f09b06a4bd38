"""Which user PostgreSQL runs as: it refuses to run as root, so root hands it to `nobody`.

Source of the rule: https://www.postgresql.org/docs/18/postgres-user.html
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from embedded_services.errors import ServiceError, describe
from embedded_services.process import Account

NOBODY = Account(uid=65534, gid=65534)


def server_account() -> Account | None:
    """The account that PostgreSQL has to be started as; None when the caller's own will do.

    Raises ServiceError for a root that cannot become anybody else, as in a user namespace that maps root
    alone.
    """
    if os.geteuid() != 0:
        return None
    for kind, number in (("uid", NOBODY.uid), ("gid", NOBODY.gid)):
        if not _is_mapped(Path(f"/proc/self/{kind}_map"), number):
            raise ServiceError(
                describe(
                    (
                        f"PostgreSQL refuses to run as root, and this user namespace has no {kind} "
                        f"{number} (nobody) to run it as."
                    ),
                    cure="Run as an ordinary user, or map the namespace's one user to 65534 instead of 0.",
                )
            )
    return NOBODY


def hand_over(directory: Path, account: Account) -> None:
    """Give `directory` and all that is in it to `account`. The caller made sure that it is the server's own."""
    os.chown(directory, account.uid, account.gid)
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), account.uid, account.gid, follow_symlinks=False)


def require_reachable(path: Path, account: Account) -> None:
    """Raise ServiceError when `account` cannot come to `path` because of a directory above it."""
    for directory in reversed(path.absolute().parents):
        if not _allows(directory, account, stat.S_IXUSR, stat.S_IXGRP, stat.S_IXOTH):
            raise ServiceError(
                describe(
                    (
                        f"This process is root, PostgreSQL runs as nobody (uid {account.uid}), and "
                        f"'{directory}' keeps nobody out of '{path}'."
                    ),
                    cure=(
                        "Choose a place that other users can reach, run as an ordinary user, or "
                        f"run: chmod o+x '{directory}'"
                    ),
                )
            )


def require_writable(directory: Path, account: Account) -> None:
    """Make sure that `account` can put a socket into `directory`.

    A directory of root's that holds nothing but sockets is handed over; any other stays as it is and is an
    error.
    """
    if _allows(directory, account, stat.S_IRWXU, stat.S_IRWXG, stat.S_IRWXO):
        return
    if directory.stat().st_uid == 0 and all(entry.is_socket() for entry in directory.iterdir()):
        os.chown(directory, account.uid, account.gid)
        return
    raise ServiceError(
        describe(
            (
                f"This process is root, PostgreSQL runs as nobody (uid {account.uid}), and nobody "
                f"may not make a socket in '{directory}'."
            ),
            cure="Name a directory that does not exist yet, or is empty; it is then given to nobody.",
        )
    )


def _allows(directory: Path, account: Account, user: int, group: int, other: int) -> bool:
    status = directory.stat()
    if status.st_uid == account.uid:
        needed = user
    elif status.st_gid == account.gid:
        needed = group
    else:
        needed = other
    return status.st_mode & needed == needed


def _is_mapped(table: Path, number: int) -> bool:
    if not table.exists():  # a system without user namespaces
        return True
    for line in table.read_text(encoding="ascii").splitlines():
        inside, _, length = (int(field) for field in line.split())
        if inside <= number < inside + length:
            return True
    return False
