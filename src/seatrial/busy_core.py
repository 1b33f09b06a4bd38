"""Keep a core of the machine busy, so that processes are scheduled otherwise than when they are alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends with its parent, also where that is killed: whoever counts looks up now and then.
_COUNT = """\
import os, sys
parent = int(sys.argv[1])
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def busy_core(wanted: bool = True) -> Iterator[None]:
    """Run a process that does nothing but count, until the block ends."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", _COUNT, str(os.getpid())]) as counting:
        try:
            yield
        finally:
            counting.kill()
