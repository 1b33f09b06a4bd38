"""The gateway's side of HTTP, in bare ASGI: reading a request, writing an answer, noticing that the client left."""

from __future__ import annotations

import json
from collections.abc import Mapping

from seatrial.gateway.events import encode_event
from seatrial.serving import Receive, Scope, Send, cut

MAX_REQUEST_BYTES = 8 * 1024 * 1024
JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"


class ClientGone(Exception):
    """The client left before its request was complete."""


class TooLarge(Exception):
    """The request's body is larger than MAX_REQUEST_BYTES."""


def header(scope: Scope, name: str) -> str:
    """The value of a request's header, without outer whitespace; empty when it is missing."""
    wanted = name.lower().encode("latin-1")
    return next((value.decode("latin-1").strip() for key, value in scope["headers"] if key == wanted), "")


def media_type(content_type: str) -> str:
    """The type of a Content-Type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


async def read_body(receive: Receive) -> bytes:
    """The whole body. Raises ClientGone, TooLarge."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > MAX_REQUEST_BYTES:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


async def client_gone(receive: Receive) -> None:
    """Returns when the client has left. Only after the body was read."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Responder:
    """Writes one response."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """A response with a known end."""
        await self._start(status, {**headers, "content-length": str(len(body))})
        await self._send({"type": "http.response.body", "body": body})

    async def json(self, status: int, headers: Mapping[str, str], value: object) -> None:
        """A response of JSON, in the one spelling that recorded and replayed answers share."""
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        await self.whole(status, {"content-type": JSON_TYPE, **headers}, body)

    async def refuse(self, status: int, code: str, message: str) -> None:
        """An error in the form of OpenAI's API, which tells its clients not to try again."""
        error = {"message": message, "type": "gateway_refusal", "param": None, "code": code}
        await self.json(status, {"x-should-retry": "false"}, {"error": error})

    async def start_stream(self, status: int, headers: Mapping[str, str]) -> None:
        """Begin a stream of events. If end_stream is never called, the client sees it cut."""
        await self._start(status, {"content-type": STREAM_TYPE, **headers})

    async def event(self, data: str) -> None:
        """One event of a started stream."""
        await self._send({"type": "http.response.body", "body": encode_event(data), "more_body": True})

    async def end_stream(self) -> None:
        """The proper end of a stream."""
        await self._send({"type": "http.response.body", "body": b""})

    def cut(self) -> None:
        """Break the connection off: what was not sent never comes."""
        cut(self._send)

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})
