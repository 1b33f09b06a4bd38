"""A model that repeats what it hears, behind HTTP. It stands where a real upstream is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from seatrial.serving import Receive, Scope, Send, serve


@asynccontextmanager
async def echo_model() -> AsyncIterator[str]:
    """Serve a model that repeats the last message; yield its base URL.

    To `use A, B` it answers with calls of the tool, to `slow` never, and to `odd` with an error the first time.
    """
    refused: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        text = json.loads(body)["messages"][-1]["content"]
        if text == "slow":
            await receive()  # until the client is gone
            return
        if text == "odd" and text not in refused:
            refused.append(text)
            await _send(send, 400, {"error": {"message": "that is odd"}})
            return
        said: dict[str, Any] = {"role": "assistant", "content": f"You said: {text}"}
        if text.startswith("use "):
            queries = text.removeprefix("use ").split(" / ")[0].split(", ")
            functions = [{"name": "look_up", "arguments": json.dumps({"query": query})} for query in queries]
            calls = [{"id": "1", "type": "function", "function": function} for function in functions]
            said = {"role": "assistant", "content": None, "tool_calls": calls}
        await _send(send, 200, {
            "id": "1", "object": "chat.completion", "created": 0, "model": "echo",
            "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        })  # fmt: skip

    async with serve(app, lifespan=False) as url:
        yield f"{url}/v1"


async def _send(send: Send, status: int, body: dict[str, Any]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
