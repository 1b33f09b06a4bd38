"""A model endpoint that answers at once, in a process of its own: the model is not what is measured.

`load_model.py` writes its port on standard output and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import sys

CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "bench"}
CHUNKS = (
    {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Noted."}, "finish_reason": None}]},
    {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {**CHUNK, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
)
EVENTS = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in CHUNKS) + b"data: [DONE]\n\n"
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: " + str(len(EVENTS)).encode() + b"\r\n\r\n"
) + EVENTS


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer whatever one connection asks, each time alike."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
            length = next((int(line.partition(b":")[2]) for line in head if line.startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            writer.write(ANSWER)
            await writer.drain()
    except (EOFError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve until standard input ends: then whoever started this has ended."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
