"""A folder that goes away with this process, however the process ends."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

# Its input ends when this process closes it or is no more: a killed process removes nothing by itself. Pants passes
# the signals that it gets on to its children; this one stays until then.
_REMOVE_AT_THE_END = ("/bin/sh", "-c", 'trap "" HUP INT QUIT TERM; read -r _; rm -rf -- "$1"', "sh")


@contextmanager
def private_folder() -> Iterator[str]:
    """Make a folder that only this user can enter, with a short name, as the names of sockets have to be."""
    folder = tempfile.mkdtemp(prefix="rec-")
    with subprocess.Popen(
        [*_REMOVE_AT_THE_END, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):  # leaving it closes its input and waits
        yield folder
