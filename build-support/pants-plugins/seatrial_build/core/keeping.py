"""Put a new recording and its case into the repository: both or none, and never with a key in them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from seatrial_build.core.secret_search import SearchTooLarge, find_secrets

_UNFINISHED = ".new"


def objection(contents: Iterable[bytes], secrets: Mapping[str, str]) -> str:
    """Return why these contents must not be written, naming credentials and no values; empty when they may be.

    `secrets` maps the variables that hold the credentials in use to their values.
    """
    found: dict[str, str] = {}
    for content in contents:
        try:
            for each in find_secrets(content, secrets):
                found.setdefault(each.name, str(each))
        except SearchTooLarge as error:
            return f"it cannot be searched for credentials: {error}"
    return f"it would hold the value of {', '.join(found.values())}" if found else ""


def write_together(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write the files whose bytes differ from what is there, in the order given, and return them.

    Whatever interrupts it, each file is the old one or the new one, whole. All are complete beside their places before
    the first one is moved there; only who is killed between two moves leaves the first file new and the second old. So
    the recording is given first: it says for which contracts it was made, the old case still says others or none, and
    that pair is *stale*, never passed. What a killed process left beside a file goes when the file is next written.
    """
    changed = {path: content for path, content in files.items() if not path.is_file() or path.read_bytes() != content}
    waiting: dict[Path, Path] = {}
    try:
        for path, content in changed.items():
            _sweep(path)
            beside = path.with_name(f".{path.name}.{os.getpid()}{_UNFINISHED}")
            waiting[path] = beside
            with open(beside, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                os.chmod(beside, path.stat().st_mode & 0o777)
        for path, beside in waiting.items():
            os.replace(beside, path)
    finally:
        for beside in waiting.values():
            beside.unlink(missing_ok=True)
    return tuple(changed)


def _sweep(path: Path) -> None:
    """Remove what processes that are no more have left beside `path`."""
    for left in path.parent.glob(f".{path.name}.*{_UNFINISHED}"):
        number = left.name[len(path.name) + 2 : -len(_UNFINISHED)]
        if number.isdecimal() and not _lives(int(number)):
            left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    with contextlib.suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True
