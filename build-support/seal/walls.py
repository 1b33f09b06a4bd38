"""The file system of a sealed process: private mounts, and no socket of the host's but those that are meant.

Path-named Unix sockets do not belong to a network namespace: a mount has to hide them. `/tmp` stays, since
the sandbox and the kept sockets lie there; each socket that is bound when the seal starts is covered alone.
"""

from __future__ import annotations

import errno
import os
import stat

import kernel

HIDDEN = ("/run", "/dev/shm", "/var/run")
_UNREACHABLE = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP)


def bound_sockets() -> list[str]:
    """The path-named sockets of this network namespace. To be asked before the process leaves it."""
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as table:
        rows = [line.rstrip("\n").split(None, 7) for line in table]
    paths = (row[7] for row in rows if len(row) == 8)
    return sorted({path for path in paths if path.startswith("/")})


def build(keep: list[str], kept_sockets: list[str], sockets: list[str]) -> dict[str, object]:
    """Unshare the mounts and hide what is the host's. `keep` are paths that stay where they would be hidden.

    Returns what the proof says about it. Raises OSError.
    """
    kernel.unshare(kernel.NEW_MOUNTS)
    kernel.mount("none", "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    hidden = [path for path in HIDDEN if os.path.isdir(path) and not os.path.islink(path)]
    through = [(path, os.open(path, os.O_PATH)) for path in _below(keep + kept_sockets, hidden)]
    for path in hidden:
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=1777")
    for path, descriptor in through:
        _bind(descriptor, path)
    left = [path for path in sockets if not _is_hidden(path, kept_sockets)]
    process_table = "of the PID namespace"
    try:
        kernel.mount("proc", "/proc", "proc", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC)
    except OSError as error:
        # A container that masks parts of its own /proc may not have another one.
        process_table = f"the outer one: {errno.errorcode.get(error.errno or 0, '')}"
    return {
        "mounts": {**{path: "private tmpfs" for path in hidden}, "/proc": process_table},
        "kept_sockets": len(kept_sockets),
        "sockets_not_hidden": left,
    }


def _below(paths: list[str], hidden: list[str]) -> list[str]:
    """Those of `paths` that a hidden directory would hide, resolved, the outer ones alone and in order."""
    found: list[str] = []
    for path in sorted({os.path.realpath(path) for path in paths if os.path.exists(path)}):
        if any(path.startswith(root + "/") for root in hidden) and not any(path.startswith(f + "/") for f in found):
            found.append(path)
    return found


def _bind(descriptor: int, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(path, exist_ok=True)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    kernel.mount(f"/proc/self/fd/{descriptor}", path, None, kernel.BIND | kernel.RECURSIVE)
    os.close(descriptor)


def _is_hidden(path: str, kept: list[str]) -> bool:
    """Cover one socket of the host's, unless it is kept; True when nobody in here can come to it any more."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return True
        real = os.path.realpath(path)
        if any(real == known or real.startswith(known + "/") for known in map(os.path.realpath, kept)):
            return True
        kernel.mount("/dev/null", real, None, kernel.BIND)
    except OSError as error:
        return error.errno in _UNREACHABLE
    return True
