"""The model service that `record` asks: where it listens, and how a request has to look for it."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

ANSWER_SECONDS = 600
"""How long the service may be silent before its answer counts as broken off."""


class UpstreamUnusable(Exception):
    """The service's address or name cannot be used; the message says what to set."""


@dataclass(frozen=True)
class ModelService:
    """An OpenAI-compatible service. ``url`` ends in the API's version (`/v1`), ``key`` may be empty.

    ``model`` is the service's own name of the model; empty, the agent's names are passed on. With ``socket`` the
    connection goes through that Unix socket, and the URL's host is only a name. ``kind`` is what recordings call it.
    """

    url: str
    key: str = ""
    model: str = ""
    certificates: str | None = None
    socket: str = ""
    kind: str = "openai-compatible"

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UpstreamUnusable(f"'{self.url}' is no http or https URL")
        if parts.username is not None or parts.password is not None:
            raise UpstreamUnusable(
                "the URL of the model service names a user; give the key apart, it stays out of texts"
            )

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that is opened by its first request."""
        if self.socket:
            return _SocketConnection(self.socket)
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


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("model", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(ANSWER_SECONDS)
        self.sock.connect(self._path)
