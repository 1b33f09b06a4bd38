"""Asking llama.cpp's own server: what it is sent for a request, and what comes back, piece by piece.

Source of its fields: https://github.com/ggml-org/llama.cpp/tree/master/tools/server (id_slot, cache_prompt).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx

from seatrial.model_server.prompt import turns_for
from seatrial.model_server.request import JSON, BadRequest
from seatrial.model_server.schema import response_format
from seatrial.model_server.tools import Choice

# What changes the words. Other fields of a request do not reach the model (stream, user, metadata, …).
_PASSED = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "stop", "logit_bias")
MOST_TOKENS = 512  # of an answer whose request sets no limit: a small model may not end by itself


@dataclass(frozen=True)
class Piece:
    """A piece of an answer. The last has `finish`, and `usage` in the form of OpenAI's API."""

    text: str = ""
    finish: str | None = None
    usage: JSON = None


class ModelRefused(Exception):
    """The model's server refused the request, with its own status and words."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(why)


class Model(Protocol):
    """What writes an answer. Leaving the generator stops the writing."""

    def write(self, body: Mapping[str, JSON]) -> AsyncGenerator[Piece, None]:
        """The pieces of the answer; the last has `finish`. Raises ModelRefused."""
        ...


def request_for(body: Mapping[str, JSON], choice: Choice, *, slot: int, seed: int) -> dict[str, JSON]:
    """The request that llama.cpp's server gets. A seed in the body itself comes first. Raises BadRequest."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("The request has no messages.")
    if body.get("n") not in (None, 1):
        raise BadRequest("The embedded model gives one answer a request: 'n' can only be 1.")
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") == "text":
        form = None
    if choice.tools and form is not None:
        raise BadRequest("The embedded model takes tools or a response_format, not both in one request.")
    asked: dict[str, JSON] = {name: body[name] for name in _PASSED if body.get(name) is not None}
    if choice.tools or form is not None:
        asked["response_format"] = response_format(choice) if choice.tools else form
    limit = body.get("max_completion_tokens") or body.get("max_tokens") or MOST_TOKENS
    own_seed = body.get("seed")
    return {
        **asked, "messages": turns_for(messages, choice), "max_tokens": limit, "id_slot": slot, "cache_prompt": True,
        "seed": seed if own_seed is None else own_seed, "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


class LlamaServer:
    """llama.cpp's server behind a Unix socket."""

    def __init__(self, socket: Path) -> None:
        transport = httpx.AsyncHTTPTransport(uds=str(socket))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://model", timeout=None, trust_env=False)

    async def write(self, body: Mapping[str, JSON]) -> AsyncGenerator[Piece, None]:
        """See Model. Raises ModelRefused also when the server breaks off."""
        finish: str | None = None
        usage: JSON = None
        try:
            async with self._client.stream("POST", "/v1/chat/completions", json=body) as response:
                if response.status_code != 200:
                    raise ModelRefused(response.status_code, _words_of(await response.aread()))
                async for event in _events(response):
                    if "error" in event:
                        raise ModelRefused(500, str(event["error"]))
                    usage = event.get("usage") or usage
                    for choice in event.get("choices", ()):
                        finish = choice.get("finish_reason") or finish
                        text = choice.get("delta", {}).get("content") or ""
                        yield Piece(text)
        except httpx.HTTPError as error:
            raise ModelRefused(502, f"The model's server broke off ({type(error).__name__}: {error}).") from error
        if finish is None:
            raise ModelRefused(502, "The model's server ended without finishing its answer.")
        yield Piece(finish=finish, usage=_usage(usage))


async def _events(response: httpx.Response) -> AsyncGenerator[dict[str, Any], None]:
    """The stream's objects. Split at line feeds alone: httpx's own lines end at U+2028 too, which is text here."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            data = line.removeprefix(b"data: ").strip()
            if data.startswith(b"{"):
                yield json.loads(data)


def _usage(given: JSON) -> JSON:
    """The three numbers; how many of the prompt's tokens lay in a cache differs from run to run and is left out."""
    numbers: Sequence[str] = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: given.get(name, 0) for name in numbers} if isinstance(given, dict) else None


def _words_of(body: bytes) -> str:
    try:
        error = json.loads(body)["error"]
        return str(error["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")[:500]
