"""The launcher's cache folder: one set-up at a time, and nothing in it that is half-written.

Everything is built in a folder beside its final place and renamed into it when it is whole. So what exists is
complete, whatever interrupted an earlier set-up.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launcher.report import SetUpError, say

_BUILDING = ".building-"


@contextmanager
def exclusive(cache: Path) -> Iterator[None]:
    """Holds the cache's lock; waits, and says so, while another start has it. Its holder's death frees it.

    Raises SetUpError if the folder cannot be made or written.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(cache / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SetUpError(
            f"the cache folder '{cache}' cannot be written",
            str(error),
            "make it writable, or set SEATRIAL_CACHE to another folder",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another start is setting up; waiting for it.")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sweep(cache: Path) -> None:
    """Removes what killed set-ups left behind. Only for the holder of the lock."""
    for leftover in cache.glob(f"*/{_BUILDING}*"):
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def building(final: Path) -> Iterator[Path]:
    """A temporary folder that becomes `final` if the body succeeds, and vanishes if it does not."""
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=final.parent))
    try:
        temporary.chmod(0o755)
        yield temporary
        if final.exists():
            shutil.rmtree(final)
        os.rename(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_file(final: Path, text: str) -> None:
    """Writes a small file whole or not at all."""
    final.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=_BUILDING, dir=final.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(text)
        os.rename(temporary, final)
    except BaseException:
        os.unlink(temporary)
        raise
