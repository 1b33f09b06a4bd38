"""The server of the embedded model as a child: started, waited for until it is ready, and never left behind."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

READY_SECONDS = 300
"""The weights are checked and loaded before the server says that it is ready."""

END_SECONDS = 20
_SHOWN_LINES = 20

READY = " serves at "
"""A line with these words says that the server listens."""

LOCK = "3rdparty/model_runtime.lock"
_MODULE = ("-m", "seatrial.model_server")


class ModelServerFailed(Exception):
    """The server did not become ready; the message ends with what it said."""


def prepare_command(python: str, *, weights: str, yes: bool, said_yes: str) -> tuple[str, ...]:
    """What has runtime and weights fetched, after a yes, and is silent where they are there."""
    own = ("--model", weights) if weights else ()
    return (python, *_MODULE, "prepare", "--lock", LOCK, *own, *(("--yes",) if yes else ()), "--said-yes", said_yes)


def serve_command(python: str, *, weights: str, socket: str) -> tuple[str, ...]:
    """What serves on `socket` until its input ends."""
    own = ("--model", weights) if weights else ()
    return (python, *_MODULE, "serve", "--lock", LOCK, "--socket", socket, "--while-stdin-open", *own)


def environment_of(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of both: the person's own, with the repository's sources and nothing else to import."""
    return {**given, "PYTHONPATH": "src", "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def model_server(
    command: Sequence[str], *, folder: str, top: str, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server for as long as the context lasts, with temporary files in `folder`.

    It holds the read end of a pipe to this process, and ends when that pipe does: at the end of the context, and when
    this process is no more. Raises ModelServerFailed.
    """
    server = subprocess.Popen(
        command,
        cwd=top,
        env={**environment, "TMPDIR": os.path.abspath(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert server.stdin is not None and server.stdout is not None
    said: queue.Queue[str | None] = queue.Queue()
    listener = threading.Thread(target=_listen, args=(server.stdout, said), daemon=True)
    listener.start()
    try:
        _wait_until_ready(said)
        yield server
    finally:
        with contextlib.suppress(OSError):
            server.stdin.close()
        try:
            server.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        listener.join()
        server.stdout.close()


def _listen(output: IO[bytes], said: queue.Queue[str | None]) -> None:
    # To its end: a server that nobody listens to would block on its own words.
    for line in output:
        said.put(line.decode(errors="replace").rstrip())
    said.put(None)


def _wait_until_ready(said: queue.Queue[str | None]) -> None:
    lines: deque[str] = deque(maxlen=_SHOWN_LINES)
    while True:
        try:
            line = said.get(timeout=READY_SECONDS)
        except queue.Empty:
            raise ModelServerFailed(_failed(f"said nothing for {READY_SECONDS} s", lines)) from None
        if line is None:
            raise ModelServerFailed(_failed("ended before it was ready", lines))
        if READY in line:
            return
        lines.append(line)


def _failed(how: str, lines: Sequence[str]) -> str:
    return "\n".join([f"The server of the embedded model {how}.", *(f"  {line}" for line in lines)])
