"""The Unix sockets of the host that have a path. They belong to no namespace: a mount has to cover each.

`/tmp` stays, since the sandbox and the kept sockets lie there; what is bound when the seal starts is covered alone.
"""

from __future__ import annotations

import errno
import os
import stat

import kernel

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    Mount = tuple[str, str, str]  # the file system's device, the folder of it that is mounted, where

_UNREACHABLE = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP)


def bound() -> list[str]:
    """The sockets of this network namespace. To be asked before the process leaves it."""
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as table:
        next(table)  # the names of the columns
        rows = [line.rstrip("\n").split(None, 7) for line in table]
    paths = (row[7] for row in rows if len(row) == 8)
    return sorted({path for path in paths if not path.startswith("@")})


def cover(paths: list[str], kept: list[str]) -> list[str]:
    """Cover the sockets at `paths` and those that a container was given by a mount; return what could not be.

    A socket is covered everywhere that its file system is mounted. A relative path, as its owner has bound it,
    says nothing about where it is, and another name of the same file (a hard link) is not known.
    """
    mounts = _mounts()
    given = [place for _, root, place in mounts if root != "/" and _is_socket(place)]
    known = [os.path.realpath(path) for path in kept]
    left = []
    for path in sorted({*paths, *given}):
        if path.startswith("/") and all(_is_hidden(alias, known) for alias in _aliases(path, mounts)):
            continue
        left.append(path)
    return left


def _mounts() -> list[Mount]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        rows = [line.split(" ", 5) for line in table]
    return [(row[2], _plain(row[3]), _plain(row[4])) for row in rows]


def _plain(path: str) -> str:
    """A path as mountinfo writes it, with four characters in octal."""
    first, *others = path.split("\\")
    return first + "".join(chr(int(other[:3], 8)) + other[3:] for other in others)


def _aliases(path: str, mounts: list[Mount]) -> list[str]:
    """All paths of what is at `path`, that one first: its file system may be mounted at several places."""
    real = os.path.realpath(path)
    places = [mount for mount in mounts if _below(real, mount[2]) is not None]
    if not places:
        return [real]
    device, root, place = max(places, key=lambda mount: len(mount[2]))
    inner = _join(root, _below(real, place) or "")
    found = [real]
    for other, root, place in mounts:
        rest = _below(inner, root)
        if other == device and rest is not None and _join(place, rest) not in found:
            found.append(_join(place, rest))
    return found


def _below(path: str, folder: str) -> str | None:
    """What comes after `folder` in `path`; None when it is not in there."""
    if path == folder:
        return ""
    start = folder.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else None


def _join(folder: str, rest: str) -> str:
    return f"{folder.rstrip('/')}/{rest}" if rest else folder


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_hidden(path: str, kept: list[str]) -> bool:
    """Cover one socket of the host's, unless it is kept; True when nobody in here can come to it any more."""
    try:
        state = os.lstat(path)
        if not stat.S_ISSOCK(state.st_mode) or any(_below(path, folder) is not None for folder in kept):
            return True
        kernel.mount("/dev/null", path, None, kernel.BIND)
    except OSError as error:
        return error.errno in _UNREACHABLE
    return state.st_nlink == 1
