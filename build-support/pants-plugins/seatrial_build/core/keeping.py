"""Put a new recording and its case into the repository: both or none, and never with a key in them."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

SHORTEST_SECRET = 6
"""A shorter key is a placeholder such as `none`, which ordinary text contains."""


def holds_secret(contents: Iterable[bytes], secret: str) -> bool:
    """Tell whether one of the contents holds `secret`: as it is, URL-encoded, or in base64."""
    if len(secret) < SHORTEST_SECRET:
        return False
    forms = {secret.encode(), quote(secret, safe="").encode(), *_base64_forms(secret.encode())}
    return any(form in content for content in contents for form in forms)


def _base64_forms(secret: bytes) -> Iterable[bytes]:
    """Return what base64 makes of `secret` at each of the three places that it can stand at in a text.

    The letters at both ends depend on the neighbours too, and are cut off.
    """
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + secret)
        start = (before * 8 + 5) // 6
        end = (before + len(secret)) * 8 // 6
        yield coded[start:end]
        yield coded[start:end].replace(b"+", b"-").replace(b"/", b"_")


def write_together(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write the files whose bytes differ from what is there, and return them.

    All are complete beside their places before the first one is moved there, so that whoever is
    interrupted leaves the old ones or whole new ones.
    """
    changed = {path: content for path, content in files.items() if not path.is_file() or path.read_bytes() != content}
    waiting: dict[Path, Path] = {}
    try:
        for path, content in changed.items():
            beside = path.with_name(f".{path.name}.{os.getpid()}.new")
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
