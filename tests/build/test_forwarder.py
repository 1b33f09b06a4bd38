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
from seatrial_build.core.forwarder import Forwarder
from seatrial_build.core.model_service import ModelService, UpstreamUnusable
from seatrial_build.core.spending import Budget, Ledger

ASKED = b'{"model": "bosun", "messages": [{"role": "user", "content": "h\xc3\xa9"}]}'

NO_LIMIT = Budget()


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
        elif self.path.endswith("/spends"):
            event = b'data: {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 4}}'
            self.stream(event + b"\n\ndata: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
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


def forwarder(place: str, service: ModelService, told: list[str], budget: Budget = NO_LIMIT) -> Forwarder:
    return Forwarder(place, service, Ledger(budget), tell=told.append, enter_thread=lambda: None)


def ask(
    place: str, path: str = "/v1/chat/completions", body: bytes = ASKED, more: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    connection = ThroughSocket(place)
    connection.request(
        "POST",
        path,
        body,
        {"content-type": "application/json", "authorization": "Bearer dummy", "x-odd": "1", **(more or {})},
    )
    return connection.getresponse()


def test_a_request_gets_the_key_the_services_path_and_its_name_of_the_model(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url, "sk-key", "small"), []) as through:
        account = through.ledger.open("a case")
        answer = ask(place)
        assert (answer.status, answer.read()) == (200, b'{"ok": true}')
        assert (account.answered, account.unknown) == (1, 1)
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
        account = through.ledger.open("a case")
        answer = ask(place, "/v1/refused")
        assert (answer.status, answer.read()) == (429, b'{"error": "slow down"}')
        assert answer.getheader("set-cookie") is None
        assert (account.requests, account.answered) == (1, 0)
    assert [line.startswith("a case: /v1/refused, request 1: 429, ") for line in told] == [True]


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


def test_role_and_seed_go_along_and_the_answer_comes_unpacked(place: str, service: Service) -> None:
    more = {"x-seatrial-role": "title", "x-seatrial-seed": "3", "accept-encoding": "gzip"}
    told: list[str] = []
    with forwarder(place, ModelService(service.url), told):
        ask(place, "/v1/spends", more=more).read()
    ((_, headers, body),) = service.seen
    assert [headers[name] for name in ("x-seatrial-role", "x-seatrial-seed", "accept-encoding")] == [
        *("title", "3"),
        "identity",
    ]
    assert "seed" not in body


def test_each_answer_is_told_with_its_case_role_number_and_cost(place: str, service: Service) -> None:
    told: list[str] = []
    with forwarder(place, ModelService(service.url), told) as through:
        through.ledger.open("first")
        ask(place, "/v1/spends", more={"x-seatrial-role": "agent"}).read()
        account = through.ledger.open("second")
        for role in ("agent", "title"):
            ask(place, "/v1/spends", more={"x-seatrial-role": role}).read()
        assert (account.requests, account.answered, account.tokens) == (2, 2, "60 tokens in, 8 out")
    assert [line.rpartition(", ")[0] for line in told] == [
        "first: agent, request 1: 30 tokens in, 4 out",
        "second: agent, request 1: 30 tokens in, 4 out",
        "second: title, request 2: 30 tokens in, 4 out",
    ]


@pytest.mark.parametrize("budget", [Budget(requests=2), Budget(tokens=35), Budget(tokens=68)])
def test_what_the_budget_does_not_cover_never_reaches_the_service(place: str, service: Service, budget: Budget) -> None:
    with forwarder(place, ModelService(service.url), [], budget) as through:
        account = through.ledger.open("a case")
        for _ in range(2):
            # The end of the answer can be read before the connection ends: it is booked by then.
            assert b"[DONE]" in ask(place, "/v1/spends").read1(1000)
        refused = ask(place, "/v1/spends")
        error = json.loads(refused.read())["error"]
    assert (refused.status, error["code"], len(service.seen), account.requests) == (403, "budget_reached", 2, 2)
    assert through.ledger.reached in error["message"]


def test_a_budget_of_tokens_ends_where_the_service_does_not_say_what_it_spent(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), [], Budget(tokens=1000)) as through:
        ask(place).read()
        assert ask(place).status == 403
    assert "does not say" in through.ledger.reached


def test_a_service_behind_a_unix_socket_is_asked_there(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), []):
        further = ModelService("http://model/v1", socket=place)
        with forwarder(f"{place}2", further, []):
            assert ask(f"{place}2").read() == b'{"ok": true}'
    ((path, _, _),) = service.seen
    assert path == "/base/v1/chat/completions"


def test_leaving_ends_the_listener(place: str, service: Service) -> None:
    with forwarder(place, ModelService(service.url), []):
        pass
    with pytest.raises(ConnectionRefusedError):
        ask(place)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://host/v1", "http:///v1", "unix:///socket"])
def test_what_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(UpstreamUnusable, match="no http or https URL"):
        ModelService(url)


def test_a_url_with_a_password_in_it_is_refused_without_showing_it() -> None:
    with pytest.raises(UpstreamUnusable) as refused:
        ModelService("https://me:hunter2@host/v1")
    assert "hunter2" not in str(refused.value)
