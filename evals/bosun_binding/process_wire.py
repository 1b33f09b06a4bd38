"""The control connection between a trial and the process that its agent runs in: lines of JSON over a socket pair.

What one side has sent is with the other before anything that follows from it: a line is in the kernel when `send`
returns, and whatever the other side is told later by another way (a model's answer, a request) it sees not before the
line. So neither side waits for an acknowledgement.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Frame = dict[str, Any]
"""What is said: ``do`` is the verb."""


class Wire:
    """One end. ``heard`` gets each line, ``ended`` is called once when the other end is gone."""

    def __init__(self, end: socket.socket, heard: Callable[[Frame], None], ended: Callable[[], None]) -> None:
        self._end = end
        self._heard = heard
        self._ended = ended
        self._rest = b""
        asyncio.get_running_loop().add_reader(end, self._read)

    def send(self, do: str, **words: Any) -> None:
        """Say something. To nobody, when the other end is gone."""
        if self._end.fileno() < 0:
            return
        with suppress(BrokenPipeError, ConnectionResetError):
            self._end.sendall(json.dumps({"do": do, **words}).encode() + b"\n")

    def close(self) -> None:
        """Hear nothing more."""
        if self._end.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._end)
            self._end.close()

    def _read(self) -> None:
        try:
            data = self._end.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._heard(json.loads(line))
        if not data:
            self.close()
            self._ended()
