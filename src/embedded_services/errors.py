"""What callers catch when a service cannot be used."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path


class ServiceError(Exception):
    """A service could not be prepared, started or stopped. The message says what, why, and what to do."""


class BinariesMissing(ServiceError):
    """A server's program is not installed, or is installed and cannot be executed."""


def describe(failure: str, *, cure: str, log: Sequence[str] = ()) -> str:
    """Word one failure: what happened, the end of the server's own log, and what to do next."""
    shown = ["", "The end of its log:", *(f"  {line}" for line in log)] if log else []
    return "\n".join([failure, *shown, *([""] if shown else []), cure])


def cure_of_full_disk(place: Path, *signs: str) -> dict[str, str]:
    """What to do when a server's log says that there is no space for what it keeps: in the C library's words, or by one
    of the server's own `signs`."""
    return dict.fromkeys((os.strerror(errno.ENOSPC), *signs), f"Free space on the disk of '{place}', then start again.")
