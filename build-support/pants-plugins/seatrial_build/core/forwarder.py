"""Pass the requests of sealed processes on to a model service, without giving them the key.

A sealed process reaches nothing but the Unix socket that this listens on. What comes in is sent to the
service with the key added and the model's name replaced, and the answer streams back as it arrives.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from seatrial_build.core.model_service import ModelService
from seatrial_build.core.spending import Account, Ledger, usage_in

ROLE_HEADER = "x-seatrial-role"
"""A request may say for whom it asks; the log tells it, and the model server gives each role a cache of its own."""

SEED_HEADER = "x-seatrial-seed"
"""The trial's index, by which the model server of this repository seeds its choice of words."""

# No accept-encoding: what an answer cost is read on its way.
_PASSED_ON = ("accept", "content-type", ROLE_HEADER, SEED_HEADER)
_PASSED_BACK = ("content-encoding", "content-type", "retry-after")

BUDGET_REACHED = "budget_reached"
"""The code of the error that a request gets when the budget is reached."""


_LAST_EVENT = b"[DONE]"


class HungUp(Exception):
    """The process that asked does not read its answer any more."""


class Forwarder(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The listener. Use it as a context manager; leaving it hangs up on everybody.

    ``tell`` gets one line a request. ``enter_thread`` is called first in every thread that is started.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        path: str,
        service: ModelService,
        ledger: Ledger,
        *,
        tell: Callable[[str], None],
        enter_thread: Callable[[], None],
    ) -> None:
        self.service = service
        self.ledger = ledger
        self.tell = tell
        self._enter_thread = enter_thread
        self._thread = threading.Thread(target=self._serve, name="forwarder", daemon=True)
        super().__init__(path, _Handler)

    def __enter__(self) -> Forwarder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self._enter_thread()
        super().process_request_thread(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A process that hung up is no error of the forwarder."""

    def _serve(self) -> None:
        self._enter_thread()
        self.serve_forever(poll_interval=0.1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Forwarder

    def do_POST(self) -> None:
        self._forward()

    def do_GET(self) -> None:
        self._forward()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the one line a request is told when it has ended."""

    def _forward(self) -> None:
        service, ledger, started = self.server.service, self.server.ledger, time.monotonic()
        self._begun = False
        asked = self.rfile.read(int(self.headers.get("content-length") or 0))
        admitted = ledger.admit()
        if admitted is None:
            self._refuse(403, f"the budget of this recording is reached: {ledger.reached}", BUDGET_REACHED)
            return
        headers = {name: self.headers[name] for name in _PASSED_ON if self.headers[name]}
        if service.key:
            headers["authorization"] = f"Bearer {service.key}"
        connection = service.connect()
        told = "no answer"
        try:
            connection.request(self.command, service.path(self.path), service.body(asked), headers)
            answer = connection.getresponse()
            told = f"{answer.status}"
            for said in self._pass_back(answer):
                if 200 <= answer.status < 300:
                    usage = usage_in(said)
                    ledger.answered(admitted[0], usage)
                    told = "cost unknown" if usage is None else f"{usage.input} tokens in, {usage.output} out"
        except HungUp:
            told += ", and the process hung up"
        except (OSError, http.client.HTTPException) as error:
            told = f"{told}: {type(error).__name__}: {error}"
            self._refuse(502, f"the model service cannot be used: {error}")
        finally:
            connection.close()
            self._tell(*admitted, told, time.monotonic() - started)

    def _tell(self, account: Account, number: int, told: str, seconds: float) -> None:
        role = self.headers.get(ROLE_HEADER) or self.path
        self.server.tell(f"{account.case}: {role}, request {number}: {told}, {seconds:.1f} s")

    def _pass_back(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        """Stream the answer on, and give its body once, before whoever asked can know that it is whole.

        Raises HungUp when the process does not read it to its end.
        """
        self.send_response(answer.status)
        for name in _PASSED_BACK:
            value = answer.getheader(name)
            if value is not None:
                self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self._begun = True
        self.end_headers()
        said, whole = bytearray(), False
        # Each piece goes on as it arrives: the recording keeps where a stream was cut.
        for piece in iter(lambda: answer.read1(65536), b""):
            said += piece
            if not whole and _LAST_EVENT in said[-len(piece) - len(_LAST_EVENT) :]:
                whole = True
                yield bytes(said)
            self._send(b"%x\r\n%b\r\n" % (len(piece), piece))
        if not whole:
            yield bytes(said)
        # Who has read the last event of a stream may hang up before this, its formal end.
        with contextlib.suppress(HungUp):
            self._send(b"0\r\n\r\n")

    def _send(self, content: bytes) -> None:
        try:
            self.wfile.write(content)
        except OSError as error:
            raise HungUp from error

    def _refuse(self, status: int, message: str, code: str = "") -> None:
        """Answer with an error where nothing was sent yet; otherwise hang up, so that a cut answer looks cut."""
        self.close_connection = True
        if self._begun:
            return
        body = json.dumps({"error": {"message": message, **({"code": code} if code else {})}}).encode()
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
