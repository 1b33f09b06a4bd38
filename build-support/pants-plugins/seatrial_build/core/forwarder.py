"""Pass the requests of sealed processes on to a model service, without giving them the key.

A sealed process reaches nothing but the Unix socket that this listens on. What comes in is sent to the
service with the key added and the model's name replaced, and the answer streams back as it arrives.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socketserver
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

ANSWER_SECONDS = 600
"""How long the service may be silent before its answer counts as broken off."""

ROLE_HEADER = "x-seatrial-role"
"""A request may say for whom it asks; the log tells it, and the model server gives each role a cache of its own."""

_PASSED_ON = ("accept", "accept-encoding", "content-type", ROLE_HEADER)
_PASSED_BACK = ("content-encoding", "content-type", "retry-after")


class HungUp(Exception):
    """The process that asked does not read its answer any more."""


class UpstreamUnusable(Exception):
    """The service's address or name cannot be used; the message says what to set."""


@dataclass(frozen=True)
class ModelService:
    """An OpenAI-compatible service. ``url`` ends in the API's version (`/v1`), ``key`` may be empty.

    ``model`` is the service's own name of the model; empty, the agent's names are passed on.
    """

    url: str
    key: str = ""
    model: str = ""
    certificates: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UpstreamUnusable(f"'{self.url}' is no http or https URL")

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that is opened by its first request."""
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=self.certificates)
            return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=ANSWER_SECONDS, context=context)
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=ANSWER_SECONDS)

    def path(self, asked: str) -> str:
        """Return the service's path for a path that starts with `/v1`."""
        below = asked[len("/v1") :] if asked.startswith("/v1/") else asked
        return urlsplit(self.url).path.rstrip("/") + below

    def body(self, asked: bytes) -> bytes:
        """Return the body with the service's own name of the model; anything else stays as it is."""
        if not self.model:
            return asked
        try:
            data = json.loads(asked)
        except ValueError:
            return asked
        if not isinstance(data, dict) or "model" not in data:
            return asked
        return json.dumps({**data, "model": self.model}, ensure_ascii=False).encode()


@dataclass
class Tally:
    """How many requests the service answered. One writer at a time, by `count`."""

    answered: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def count(self) -> None:
        with self._lock:
            self.answered += 1


class Forwarder(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The listener. Use it as a context manager; leaving it hangs up on everybody.

    ``tell`` gets one line a request. ``enter_thread`` is called first in every thread that is started.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, path: str, service: ModelService, *, tell: Callable[[str], None], enter_thread: Callable[[], None]
    ) -> None:
        self.service = service
        self.tell = tell
        self.tally = Tally()
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
        service, started = self.server.service, time.monotonic()
        self._begun = False
        asked = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name: self.headers[name] for name in _PASSED_ON if self.headers[name]}
        if service.key:
            headers["authorization"] = f"Bearer {service.key}"
        connection = service.connect()
        told = "no answer"
        try:
            connection.request(self.command, service.path(self.path), service.body(asked), headers)
            answer = connection.getresponse()
            told = f"{answer.status}"
            if 200 <= answer.status < 300:
                self.server.tally.count()
            self._pass_back(answer)
        except HungUp:
            told += ", and the process hung up"
        except (OSError, http.client.HTTPException) as error:
            told = f"{told}: {type(error).__name__}: {error}"
            self._refuse(error)
        finally:
            connection.close()
            role = self.headers.get(ROLE_HEADER) or self.path
            self.server.tell(f"model service, {role}: {told}, {time.monotonic() - started:.1f} s")

    def _pass_back(self, answer: http.client.HTTPResponse) -> None:
        """Stream the answer on. Raises HungUp when the process does not read it to its end."""
        self.send_response(answer.status)
        for name in _PASSED_BACK:
            value = answer.getheader(name)
            if value is not None:
                self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self._begun = True
        self.end_headers()
        # Each piece goes on as it arrives: the recording keeps where a stream was cut.
        for piece in iter(lambda: answer.read1(65536), b""):
            self._send(b"%x\r\n%b\r\n" % (len(piece), piece))
        # Who has read the last event of a stream may hang up before this, its formal end.
        with contextlib.suppress(HungUp):
            self._send(b"0\r\n\r\n")

    def _send(self, content: bytes) -> None:
        try:
            self.wfile.write(content)
        except OSError as error:
            raise HungUp from error

    def _refuse(self, error: Exception) -> None:
        """Answer 502 where nothing was sent yet; otherwise hang up, so that a cut answer looks cut."""
        self.close_connection = True
        if self._begun:
            return
        body = json.dumps({"error": {"message": f"the model service cannot be used: {error}"}}).encode()
        with contextlib.suppress(OSError):
            self.send_response(502)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
