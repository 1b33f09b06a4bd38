"""A provider on loopback that answers as a test orders: with the errors of the public API, or with nothing."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Literal


@dataclass(frozen=True)
class Ordered:
    """What one request gets. Without a status its connection is cut; `hold` says nothing and keeps it open."""

    status: int | None = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    then: Literal["end", "cut", "hold"] = "end"


def error(status: int, code: str | None = None, *, kind: str = "error", **headers: str) -> Ordered:
    """Order an error in the form that OpenAI's API reference gives it."""
    body = {"error": {"message": "Secret words of the provider.", "type": kind, "param": None, "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Ordered(status, json.dumps(body).encode(), {"content-type": "application/json", **named})


def stream(*events: object, then: Literal["end", "cut", "hold"] = "end") -> Ordered:
    """Order a stream of these events; a text stands as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in events]
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    return Ordered(200, body, {"content-type": "text/event-stream"}, then)


def chunk(finish: str | None = None) -> dict[str, Any]:
    """Return one chunk of a stream. It holds no words: a failure has none that anybody would see."""
    return {"id": "c", "created": 0, "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}


REFUSAL = error(400)
"""What is answered to whoever asks once more than was ordered: that he came so far is all that there is to see."""


@dataclass
class Provider:
    """What is asked, and what is going to be answered: the orders in their turn, and then `REFUSAL`."""

    orders: deque[Ordered] = field(default_factory=deque)
    asked: list[dict[str, Any]] = field(default_factory=list)
    silent: threading.Event = field(default_factory=threading.Event)
    """Set when a request is held, and has got all that it will get."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when the client of a held request has hung up."""
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    provider: Provider
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        provider = self.provider
        provider.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        order = provider.orders.popleft() if provider.orders else REFUSAL
        self.close_connection = True
        if order.status is not None:
            self.send_response(order.status)
            for name, value in order.headers.items():
                self.send_header(name, value)
            length = len(order.body) + (0 if order.then == "end" else 1)
            self.send_header("content-length", str(length))
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(order.body)
        if order.then == "hold":
            provider.silent.set()
            self.connection.recv(1)
            provider.left.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind, and ask no name server what this machine is called."""
        TCPServer.server_bind(self)


@contextmanager
def provider_server() -> Iterator[Provider]:
    """Serve a provider of its own, until the block ends."""
    provider = Provider()
    handler: Callable[..., BaseHTTPRequestHandler] = type("Handler", (_Handler,), {"provider": provider})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        provider.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
