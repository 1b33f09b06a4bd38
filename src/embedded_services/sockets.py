"""Unix socket paths: their limit, and whose socket lies at one."""

from __future__ import annotations

import os
from pathlib import Path

from embedded_services.errors import ServiceError, describe

# sun_path is 108 bytes with its closing NUL: unix(7).
LONGEST_PATH_BYTES = 107


def require_short(path: Path) -> Path:
    """Return `path` made absolute. Raises ServiceError when the system cannot hold it as a socket's address."""
    absolute = path.absolute()
    length = len(os.fsencode(absolute))
    if length > LONGEST_PATH_BYTES:
        raise ServiceError(
            describe(
                f"The socket path '{absolute}' is {length} bytes long; the system's limit is {LONGEST_PATH_BYTES}.",
                cure="Choose a shorter directory for the socket, such as one made by tempfile.mkdtemp(dir='/tmp').",
            )
        )
    return absolute


def identify(path: Path) -> tuple[int, int, int] | None:
    """Tell one socket at `path` from a later one at the same path; None when there is none.

    The inode's number alone would not do: file systems hand a freed one out again at once.
    """
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns
