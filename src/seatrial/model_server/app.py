"""The server's HTTP side, in bare ASGI: one chat completion at a time, whole or as a stream.

One at a time, because two requests computed in one batch add up their numbers in another order, and a word may
change with it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import aclosing
from typing import Any

from seatrial.model_server.answer import AnswerBroken
from seatrial.model_server.completion import Envelope
from seatrial.model_server.llama import Model, ModelRefused, Piece, request_for
from seatrial.model_server.reader import Reader
from seatrial.model_server.request import JSON, BadRequest, digest
from seatrial.model_server.tools import Choice, choice_of

# The ASGI specification's own shapes (https://asgi.readthedocs.io/en/latest/specs/main.html): open mappings.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

ROLE_HEADER = "x-seatrial-role"
SEED_HEADER = "x-seatrial-seed"  # the trial's index
MOST_BYTES = 8 * 1024 * 1024


class ModelApp:
    """Answers for one model, by its `alias`; `fingerprint` names the runtime.

    Each of `roles` has a slot, and with it its prompts' cache, to itself.
    """

    def __init__(self, model: Model, *, alias: str, fingerprint: str, roles: Sequence[str]) -> None:
        self._model, self._alias, self._fingerprint, self._roles = model, alias, fingerprint, tuple(roles)
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"The model's server serves HTTP, not '{scope['type']}'.")
        asked = (scope["method"], scope["path"])
        if asked == ("GET", "/health"):
            await _json(send, 200, {"status": "ok"})
        elif asked == ("GET", "/v1/models"):
            models: list[JSON] = [{"id": self._alias, "object": "model", "created": 0, "owned_by": ""}]
            await _json(send, 200, {"object": "list", "data": models})
        elif asked == ("POST", "/v1/chat/completions"):
            await self._until_gone(scope, receive, send)
        else:
            why = f"The embedded model does not know '{asked[0]} {asked[1]}', only POST /v1/chat/completions."
            await _refuse(send, 404, why)

    async def _until_gone(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and stop the model as soon as the client has left."""
        body = await _read(receive)
        if body is None:
            return
        answering = asyncio.create_task(self._answer(scope, body, send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.wait({answering, leaving})
        if not answering.cancelled():
            answering.result()

    async def _answer(self, scope: Scope, raw: bytes, send: Send) -> None:
        try:
            body = _parsed(raw)
            role, seed = self._role(scope), _seed(scope)
            choice = choice_of(body)
            asked = request_for(body, choice, slot=self._roles.index(role), seed=seed)
        except BadRequest as error:
            await _refuse(send, 400, str(error))
            return
        async with self._turn, aclosing(self._model.write(asked)) as pieces:
            try:
                first = await anext(pieces)
                envelope = Envelope(digest(body, role=role, seed=seed), self._alias, self._fingerprint)
                if body.get("stream") is not True:
                    answer = await _whole(envelope, choice, first, pieces)
                    await _json(send, 200, answer)
                    return
            except ModelRefused as error:
                await _refuse(send, error.status, str(error))
                return
            except AnswerBroken as error:
                await _refuse(send, 502, str(error))
                return
            options = body.get("stream_options")
            wants_usage = isinstance(options, dict) and options.get("include_usage") is True
            # A failure from here on cuts the stream: there is no honest end for it.
            await _start(send, 200, "text/event-stream")
            async with aclosing(_streamed(envelope, choice, first, pieces, wants_usage)) as events:
                async for event in events:
                    await _send_event(send, _spelled(event))
            await _send_event(send, b"[DONE]")
            await send({"type": "http.response.body", "body": b""})

    def _role(self, scope: Scope) -> str:
        role = _header(scope, ROLE_HEADER) or self._roles[0]
        if role not in self._roles:
            raise BadRequest(f"No slot is set apart for the role '{role}'. Roles: {', '.join(self._roles)}.")
        return role


async def _whole(
    envelope: Envelope, choice: Choice, first: Piece, pieces: AsyncGenerator[Piece, None]
) -> Mapping[str, JSON]:
    reader, last = Reader([tool.name for tool in choice.tools]), first
    reader.take(first.text)
    async for last in pieces:
        reader.take(last.text)
    _, finish = reader.end(last.finish or "")
    return envelope.whole(reader.text, reader.call, finish, last.usage)


async def _streamed(
    envelope: Envelope, choice: Choice, first: Piece, pieces: AsyncGenerator[Piece, None], wants_usage: bool
) -> AsyncGenerator[Mapping[str, JSON], None]:
    reader, last = Reader([tool.name for tool in choice.tools]), first
    yield envelope.begin()
    if text := reader.take(first.text):
        yield envelope.text(text)
    async for last in pieces:
        if text := reader.take(last.text):
            yield envelope.text(text)
    text, finish = reader.end(last.finish or "")
    if text:
        yield envelope.text(text)
    if reader.call is not None:
        for event in envelope.call(reader.call):
            yield event
    yield envelope.end(finish)
    if wants_usage:
        yield envelope.usage(last.usage)


def _header(scope: Scope, name: str) -> str:
    wanted = name.encode("latin-1")
    return next((value.decode("latin-1").strip() for key, value in scope["headers"] if key == wanted), "")


def _seed(scope: Scope) -> int:
    given = _header(scope, SEED_HEADER) or "0"
    if not given.isdecimal() or int(given) >= 2**32:
        raise BadRequest(f"The header {SEED_HEADER} is '{given}', not the index of a trial (0, 1, 2, …).")
    return int(given)


def _parsed(raw: bytes) -> Mapping[str, JSON]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The request's body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("The request's body is not a JSON object.")
    return body


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None when the client left or sent more than anybody would."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or len(body) > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _spelled(value: Mapping[str, JSON]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


async def _start(send: Send, status: int, content_type: str) -> None:
    headers = [(b"content-type", content_type.encode("ascii"))]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _json(send: Send, status: int, value: Mapping[str, JSON]) -> None:
    await _start(send, status, "application/json")
    await send({"type": "http.response.body", "body": _spelled(value)})


async def _refuse(send: Send, status: int, why: str) -> None:
    error: JSON = {"message": why, "type": "invalid_request_error", "param": None, "code": None}
    await _json(send, status, {"error": error})


async def _send_event(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": b"data: " + data + b"\n\n", "more_body": True})
