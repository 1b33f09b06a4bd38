"""A small upstream that speaks OpenAI's wire format over real HTTP, and clients of the official library.

Source of the format: https://platform.openai.com/docs/api-reference/chat. It tests the gateway, not an agent.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import pytest
import pytest_asyncio
from openai import AsyncOpenAI

from seatrial.gateway.recording import Recording
from seatrial.gateway.server import Gateway
from seatrial.gateway.upstream import Upstream
from seatrial.headers import HeaderNames
from seatrial.serving import Receive, Scope, Send, serve

NAMES = HeaderNames(role="x-test-role", conversation="x-test-conversation")


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    chunks: tuple[bytes, ...]
    then: Literal["end", "cut", "hang"]
    gate: asyncio.Event | None = None


class Site:
    """The upstream. Each request gets the next reply that a test has laid out."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.arrived = asyncio.Event()
        self.left = asyncio.Event()
        self.url = ""

    def upstream(self, **options: Any) -> Upstream:
        return Upstream(base_url=f"{self.url}/v1", kind="test", **{"api_key": "sk-0123456789", **options})

    def raw(
        self,
        status: int,
        headers: Mapping[str, str],
        chunks: Iterable[bytes],
        then: Literal["end", "cut", "hang"] = "end",
        gate: asyncio.Event | None = None,
    ) -> None:
        self.replies.append(Reply(status, headers, tuple(chunks), then, gate))

    def whole(self, text: str, *, zipped: bool = False, gate: asyncio.Event | None = None) -> None:
        body = json.dumps(completion(text)).encode()
        headers = {"content-type": "application/json", "x-request-id": "req-1", "set-cookie": "session=1"}
        if zipped:
            headers["content-encoding"] = "gzip"
            body = gzip.compress(body)
        self.raw(200, headers, [body], gate=gate)

    def stream(
        self,
        *parts: str,
        size: int = 1 << 20,
        line_end: bytes = b"\n",
        done: bool = True,
        then: Literal["end", "cut", "hang"] = "end",
    ) -> None:
        """The parts as deltas, the bytes split into chunks of `size`."""
        lines = [f"data: {json.dumps(piece, ensure_ascii=False)}".encode() for piece in deltas(*parts)]
        if done:
            lines.append(b"data: [DONE]")
        data = b": a comment" + line_end * 2 + b"".join(line + line_end * 2 for line in lines)
        chunks = [data[start : start + size] for start in range(0, len(data), size)]
        self.raw(200, {"content-type": "text/event-stream; charset=utf-8"}, chunks, then)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.asked.append(json.loads(body))
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        self.arrived.set()
        reply = self.replies.pop(0)
        if reply.gate is not None:
            await reply.gate.wait()
        headers = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        if reply.then != "hang" or reply.chunks:
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            for chunk in reply.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if reply.then == "end":
            await send({"type": "http.response.body", "body": b""})
        elif reply.then == "hang":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.set()


def completion(text: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "real-model",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10,
                  "prompt_tokens_details": {"cached_tokens": 2}},
    }  # fmt: skip


def deltas(*parts: str) -> list[dict[str, Any]]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "real-model"}
    pieces = [{**head, "choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]} for part in parts]
    end = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 7, "completion_tokens": len(parts), "total_tokens": 7 + len(parts)}
    return [*pieces, end, {**head, "choices": [], "usage": usage}]


class Talk:
    """One client of the official library, in one role and conversation."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client

    async def whole(self, text: str) -> str:
        messages: Any = [{"role": "user", "content": text}]
        answer = await self.client.chat.completions.create(model="alias", messages=messages)
        return answer.choices[0].message.content or ""

    async def stream(self, text: str) -> list[str]:
        return [part async for part in self.parts(text)]

    async def parts(self, text: str) -> AsyncIterator[str]:
        stream = await self.client.chat.completions.create(
            model="alias", messages=[{"role": "user", "content": text}], stream=True,
            stream_options={"include_usage": True},
        )  # fmt: skip
        async with stream:
            async for chunk in stream:
                for choice in chunk.choices:
                    if choice.delta.content is not None:
                        yield choice.delta.content


@pytest.fixture
def names() -> HeaderNames:
    return NAMES


TalkTo = Callable[..., Talk]
Recorder = Callable[[Recording | None], AbstractAsyncContextManager[tuple[Gateway, Talk]]]
Replayer = Callable[[Recording | None], AbstractAsyncContextManager[tuple[Gateway, Talk]]]


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    async with serve(site.app, lifespan=False) as url:
        site.url = url
        yield site


@pytest_asyncio.fixture
async def talk_to() -> AsyncIterator[TalkTo]:
    async with AsyncExitStack() as stack:

        def connect(url: str, *, role: str = "agent", conversation: str = "c-1") -> Talk:
            headers = {NAMES.role: role, NAMES.conversation: conversation}
            client = AsyncOpenAI(
                base_url=f"{url}/v1", api_key="agent-key", max_retries=0,
                default_headers={name: value for name, value in headers.items() if value},
            )  # fmt: skip
            stack.push_async_callback(client.close)
            return Talk(client)

        yield connect


@pytest.fixture
def recording_gateway(site: Site, talk_to: TalkTo) -> Recorder:
    @asynccontextmanager
    async def open_gateway(older: Recording | None = None) -> AsyncIterator[tuple[Gateway, Talk]]:
        gateway = Gateway(
            header_names=NAMES, recording=older, upstream=site.upstream(), model_names={"alias": "real-model"}
        )
        async with serve(gateway.app, lifespan=False) as url:
            yield gateway, talk_to(url)

    return open_gateway


@pytest.fixture
def replaying_gateway(talk_to: TalkTo) -> Replayer:
    @asynccontextmanager
    async def open_gateway(recording: Recording | None) -> AsyncIterator[tuple[Gateway, Talk]]:
        gateway = Gateway(header_names=NAMES, recording=recording)
        async with serve(gateway.app, lifespan=False) as url:
            yield gateway, talk_to(url)

    return open_gateway


@pytest.fixture
def made() -> Callable[[Gateway], Any]:
    """The recording of a gateway that has settled."""

    async def make(gateway: Gateway) -> Recording:
        await gateway.settle()
        return gateway.recording_made(recorded_at="2030-01-01T00:00:00Z", trial=0, contracts={"context.time": 1})

    return make
