"""A sealed process asks through a socket; the key is added outside, and answers stream back as they come."""

from __future__ import annotations

import http.client
import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from seatrial_build.core.forwarder import Forwarder, ModelService, UpstreamUnusable

ASKED = b'{"model": "bosun", "messages": [{"role": "user", "content": "h\xc3\xa9"}]}'


class Service(HTTPServer):
    """A model service on loopback that remembers what it was asked. `go_on` lets a held stream end."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.go_on = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/base/v1"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append(
            (self.path, {name.lower(): self.headers[name] for name in self.headers}, json.loads(body))
        )
        if self.path.endswith("/refused"):
            self.answer(429, b'{"error": "slow down"}')
        elif self.path.endswith("/cut"):
            self.stream(b"first")
            self.close_connection = True
        elif self.path.endswith("/held"):
            self.stream(b"first")
            self.server.go_on.wait(30)
            self.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")
        else:
            self.answer(200, b'{"ok": true}')

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("set-cookie", "a=b")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, piece: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class ThroughSocket(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("upstream", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.go_on.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def place() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="f") as folder:
        yield str(Path(folder) / "s")


def forwarder(place: str, service: ModelService, told: list[str]) -> Forwarder:
    return Forwarder(place, service, tell=told.append, enter_thread=lambda: None)


def ask(place: str, path: str = "/v1/chat/completions", body: bytes = ASKED) -> http.client.HTTPResponse:
    connection = ThroughSocket(place)
    connection.request(
        "POST", path, body, {"content-type": "application/json", "authorization": "Bearer dummy", "x-odd": "1"}
    )
    return connection.getresponse()


def test_a_request_gets_the_key_the_services_path_and_its_name_of_the_model(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url, "sk-key", "small"), []) as through:
        answer = ask(place)
        assert (answer.status, answer.read()) == (200, b'{"ok": true}')
        assert through.tally.answered == 1
    ((path, headers, body),) = service.seen
    assert path == "/base/v1/chat/completions"
    assert headers["authorization"] == "Bearer sk-key"
    assert "x-odd" not in headers
    assert body == {"model": "small", "messages": [{"role": "user", "content": "hé"}]}


def test_without_a_key_and_a_model_the_request_stays_as_it_is(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), []):
        ask(place).read()
    ((_, headers, body),) = service.seen
    assert "authorization" not in headers
    assert body == json.loads(ASKED)


def test_a_refusal_is_passed_back_and_does_not_count_as_an_answer(place: str, service: Service) -> None:
    told: list[str] = []
    with forwarder(place, ModelService(service.url), told) as through:
        answer = ask(place, "/v1/refused")
        assert (answer.status, answer.read()) == (429, b'{"error": "slow down"}')
        assert answer.getheader("set-cookie") is None
        assert through.tally.answered == 0
    assert [line.startswith("model service, /v1/refused: 429") for line in told] == [True]


def test_a_stream_is_passed_on_piece_by_piece(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), []):
        answer = ask(place, "/v1/held")
        assert answer.read1(100) == b"first"
        service.go_on.set()
        assert answer.read() == b"second"


def test_an_answer_that_is_cut_arrives_cut(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), []):
        answer = ask(place, "/v1/cut")
        with pytest.raises(http.client.IncompleteRead):
            answer.read()


def test_a_service_that_is_not_there_is_a_bad_gateway(place: str) -> None:
    told: list[str] = []
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        with forwarder(place, ModelService(url), told):
            answer = ask(place)
            assert answer.status == 502
            assert "the model service cannot be used" in json.loads(answer.read())["error"]["message"]
    assert "ConnectionRefusedError" in told[0]


def test_leaving_ends_the_listener(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), []):
        pass
    with pytest.raises(ConnectionRefusedError):
        ask(place)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://host/v1", "http:///v1", "unix:///socket"])
def test_what_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(UpstreamUnusable, match="no http or https URL"):
        ModelService(url)
