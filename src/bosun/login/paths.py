"""Where a browser is sent after it has signed in: to a page of Bosun's and nowhere else."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

HOME: Final = "/"
LONGEST_PATH: Final = 500


def own_path(wanted: str | None) -> str:
    """Return the wanted path where it is one of Bosun's own pages, and otherwise the first page.

    Browsers take `//host` and `/\\host` for another host, and drop tabs and line ends on the way.
    """
    if not wanted or len(wanted) > LONGEST_PATH or not wanted.startswith("/") or wanted[1:2] in ("/", "\\"):
        return HOME
    if any(character <= " " or character in "\\\x7f" or character > "~" for character in wanted):
        return HOME
    parts = urlsplit(wanted)
    if parts.scheme or parts.netloc or parts.path.startswith("/login"):
        return HOME
    return wanted
