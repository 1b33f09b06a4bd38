"""What comes back from the model's own server over its socket, byte for byte as it may be split."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from seatrial.model_server.llama import LlamaServer, ModelRefused, Piece

pytestmark = pytest.mark.asyncio

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def event(value: Any) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def delta(text: str | None, finish: str | None = None) -> bytes:
    return event({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})


@asynccontextmanager
async def server(folder: Path, answer: bytes) -> AsyncIterator[LlamaServer]:
    """Answers one request with these bytes, one at a time, and hangs up."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        for number in range(len(answer)):
            writer.write(answer[number : number + 1])
            await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(talk, folder / "s.sock"):
        yield LlamaServer(folder / "s.sock")


async def pieces(folder: Path, answer: bytes) -> list[Piece]:
    async with server(folder, answer) as llama:
        return [piece async for piece in llama.write({"messages": []}) if piece != Piece()]


async def test_a_stream_is_its_pieces_and_at_the_end_its_reason_and_its_three_numbers(tmp_path: Path) -> None:
    usage: dict[str, Any] = {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}
    told = event(
        {"choices": [], "usage": {**usage, "prompt_tokens_details": {"cached_tokens": 3}}, "timings": {"a": 1}}
    )
    said = [
        delta(None),
        b": ping\n\n",
        delta("a\u2028é"),
        delta("😀"),
        delta(None, "length"),
        told,
        b"data: [DONE]\n\n",
    ]
    assert await pieces(tmp_path, STREAM + b"".join(said)) == [
        Piece("a\u2028é"),
        Piece("😀"),
        Piece(finish="length", usage=usage),
    ]


@pytest.mark.parametrize(
    ("answer", "status", "why"),
    [
        (b'HTTP/1.1 400 No\r\nconnection: close\r\n\r\n{"error":{"message":"too long"}}', 400, "^too long$"),
        (b"HTTP/1.1 503 No\r\nconnection: close\r\n\r\nloading", 503, "^loading$"),
        (STREAM + delta("a") + event({"error": {"message": "no slot"}}), 500, "no slot"),
        (STREAM + delta("a"), 502, "without finishing"),
        (b"", 502, "broke off"),
    ],
)
async def test_an_answer_that_does_not_finish_is_refused_with_the_servers_words(
    tmp_path: Path, answer: bytes, status: int, why: str
) -> None:
    with pytest.raises(ModelRefused, match=why) as refused:
        await pieces(tmp_path, answer)
    assert refused.value.status == status
