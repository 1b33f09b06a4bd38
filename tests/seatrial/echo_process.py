"""The model that repeats what it hears, in a process of its own, for tests that start processes themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROGRAM = """\
import asyncio
from echo_model import echo_model
async def main():
    async with echo_model() as url:
        print(url, flush=True)
        await asyncio.get_running_loop().create_future()
asyncio.run(main())
"""


@contextmanager
def echoing() -> Iterator[str]:
    """Serve the model; yield its base URL."""
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True, env=environment())
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def environment(*folders: Path) -> dict[str, str]:
    """The environment in which a process imports what this one does, and what lies in `folders`."""
    path = [*map(str, folders), str(Path.cwd()), *(part for part in sys.path if part)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
