"""A small Slack on loopback: threads of messages, and failures that a test orders."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from bosun.slack.options import SlackOptions

CHANNEL, DIRECT = "C024BE91L", "D024BE91L"
ROOT = "1700000000.000001"
TOKEN = "xoxb-test"
APP, BOT = "UBOSUN", "BBOSUN"

Moment = Literal["before", "after"]


@dataclass(frozen=True)
class Fault:
    """How one call fails. Without an error, its connection is cut; or whoever called is killed, by the process' id."""

    error: str = ""
    status: int = 200
    retry_after: str | None = None
    moment: Moment = "before"
    body: bytes | None = None
    kill: bool = False


@dataclass
class SlackServer:
    """What there is, what was called, and what is going to fail."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    reactions: list[tuple[str, str]] = field(default_factory=list)
    faults: dict[str, deque[Fault | None]] = field(default_factory=dict)
    page: int = 2
    """The longest page of a thread, however much is asked for."""
    victim: int = 0
    """The process that a killing fault kills."""
    arrived: threading.Event = field(default_factory=threading.Event)
    """Set by a call that is held."""
    held: dict[str, threading.Event] = field(default_factory=dict)
    """What a method's calls wait for before they take effect."""
    url: str = ""

    def options(self, **more: Any) -> SlackOptions:
        """Return what an app needs to know of it."""
        given = {"bot_token": TOKEN, "signing_secret": "s", "account_id": "standard", "base_url": self.url, **more}
        return SlackOptions(**given)

    def fail(self, method: str, *faults: Fault | None) -> None:
        """Let the next calls of a method fail, in this order; None is one that does not."""
        self.faults.setdefault(method, deque()).extend(faults)

    def called(self, method: str) -> list[dict[str, Any]]:
        """Return the arguments of a method's calls."""
        return [arguments for name, arguments in self.calls if name == method]

    @property
    def methods(self) -> list[str]:
        """What was called, in order."""
        return [name for name, _ in self.calls]

    @property
    def texts(self) -> list[str]:
        """What stands there, in order."""
        return [message["text"] for message in self.messages]

    def answer(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do what a method does."""
        if method == "chat.postMessage":
            ts = f"1700000001.{len(self.messages):06}"
            said = {"ts": ts, "user": APP, "bot_id": BOT, **arguments}
            self.messages.append(said)
            return {"ok": True, "ts": ts, "message": said}
        if method == "conversations.replies":
            start = int(arguments.get("cursor") or 0)
            end = start + min(self.page, int(arguments["limit"]))
            there = [m for m in self.messages if m["thread_ts"] == arguments["ts"]]
            cursor = str(end) if end < len(there) else ""
            shown = [m if arguments.get("include_all_metadata") else {**m, "metadata": None} for m in there[start:end]]
            return {"ok": True, "messages": shown, "response_metadata": {"next_cursor": cursor}}
        if method == "auth.test":
            return {"ok": True, "user_id": APP, "bot_id": BOT}
        if method == "users.info":
            return {"ok": True, "user": {"name": "morgan", "profile": {"display_name": "", "real_name": "Morgan M."}}}
        if method == "reactions.add":
            reaction = (arguments["timestamp"], arguments["name"])
            if reaction in self.reactions:
                return {"ok": False, "error": "already_reacted"}
            self.reactions.append(reaction)
        return {"ok": True}


class _Handler(BaseHTTPRequestHandler):
    slack: SlackServer
    timeout = 30

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        method = parts.path.removeprefix("/api/")
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        arguments = dict(parse_qsl(parts.query, keep_blank_values=True))
        if self.headers.get("content-type", "").startswith("application/json"):
            arguments |= json.loads(body)
        else:
            arguments |= dict(parse_qsl(body.decode(), keep_blank_values=True))
        assert self.headers["authorization"] == f"Bearer {TOKEN}"
        slack = self.slack
        waiting = slack.faults.get(method)
        fault = waiting.popleft() if waiting else None
        slack.calls.append((method, arguments))
        if method in slack.held:
            slack.arrived.set()
            slack.held[method].wait(20)
        if fault is None:
            self._say(200, json.dumps(slack.answer(method, arguments)).encode())
            return
        if fault.moment == "after":
            slack.answer(method, arguments)
        if fault.kill:
            os.kill(slack.victim, signal.SIGKILL)
        if fault.body is not None or fault.error:
            said = fault.body if fault.body is not None else json.dumps({"ok": False, "error": fault.error}).encode()
            self._say(fault.status, said, fault.retry_after)
        else:
            self.close_connection = True

    def _say(self, status: int, body: bytes, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind, and ask no name server what this machine is called."""
        TCPServer.server_bind(self)


@contextmanager
def slack_server() -> Iterator[SlackServer]:
    """Serve a Slack of its own, until the block ends."""
    slack = SlackServer()
    handler: Callable[..., BaseHTTPRequestHandler] = type("Handler", (_Handler,), {"slack": slack})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        slack.url = f"http://127.0.0.1:{server.server_address[1]}/api/"
        try:
            yield slack
        finally:
            for event in slack.held.values():
                event.set()
            server.shutdown()
            thread.join()
