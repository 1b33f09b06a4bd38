"""What the seal writes down, as JSON. A proof holds no time, process id or path of one run."""

from __future__ import annotations

import os
from _json import encode_basestring_ascii  # importing `json` costs as much as the namespaces do

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    from typing import Any

HIDDEN_SOCKETS = (
    "Hidden unless kept: Unix sockets with a path under /run and /dev, and those that were bound anywhere "
    "when the seal began. One that the host or another seal binds elsewhere afterwards, such as in /tmp, "
    "can be reached, but for those in another seal's private folders."
)
OPEN_SOCKETS = "Unix sockets with a path are not hidden by this policy: all of this file system's can be reached."


def encode(value: Any) -> str:
    """The JSON text of a value made of dicts, lists, strings, integers, booleans and None."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{encode(key)}: {encode(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(encode(item) for item in value) + "]"
    if isinstance(value, str):
        return str(encode_basestring_ascii(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(int(value))


def say(text: str) -> None:
    """Put a message on standard error, whatever has become of it."""
    try:  # noqa: SIM105 - contextlib would be imported for this alone
        os.write(2, text.encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def write(path: str, text: str) -> None:
    """Write a file and the directories above it. Raises OSError."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
