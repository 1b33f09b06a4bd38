"""Open-loop load over HTTP: messages are due at times that were fixed before, whatever the server does meanwhile.

An answer's time counts from when its message was due, so that a server that stalls cannot hide it by being asked less
(coordinated omission).
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

ANSWER_SECONDS = 120.0
IDLE_SECONDS = 3.0
"""The server closes connections that are idle for 5 s: one that comes near is not used again."""
SEED = 20261201


@dataclass(frozen=True)
class Sent:
    """A message that was sent, and under which id it was accepted."""

    key: str
    conversation_id: str
    token: str
    text: str
    message_id: str | None = None

    def accepted(self, answer: Answer) -> Sent:
        """Return it with what the answer says about it."""
        return dataclasses.replace(self, conversation_id=answer.conversation_id, message_id=answer.message_id)


@dataclass(frozen=True)
class Answer:
    """The answer to an append; status 0 when there was none."""

    status: int
    conversation_id: str = ""
    message_id: str | None = None
    problem: str = ""


@dataclass(frozen=True)
class Load:
    """What was sent and answered. Seconds count from when a message was due."""

    sent: list[Sent]
    answers: list[Answer]
    seconds: list[float]
    latest_start: float
    """How late this program itself was, at worst, in starting a request."""


class Client:
    """HTTP/1.1 on loopback, with as many connections as there are requests at once."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, _, writer in self._idle:
            writer.close()

    async def append(self, message: Sent) -> Answer:
        """Append a message; without a conversation it begins one."""
        path = f"/api/conversations/{message.conversation_id}/messages" if message.conversation_id else None
        body = {"idempotencyKey": message.key, "message": message.text}
        try:
            answered = self.ask("POST", path or "/api/conversations", message.token, body)
            status, content = await asyncio.wait_for(answered, ANSWER_SECONDS)
        except (OSError, EOFError, TimeoutError) as error:
            return Answer(0, problem=type(error).__name__)
        if status != 202:
            return Answer(status, problem=str(content.get("error", {}).get("code")))
        return Answer(status, content["conversationId"], content["messageId"])

    async def ask(self, method: str, path: str, token: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Send one request and return status and content of its answer."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: bosun\r\nauthorization: Bearer {token}\r\n"
        reader, writer = await self._connection()
        try:
            writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
            answer = await reader.readexactly(length)
        except BaseException:
            writer.close()
            raise
        self._idle.append((asyncio.get_running_loop().time(), reader, writer))
        return int(lines[0].split()[1]), json.loads(answer)

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            since, reader, writer = self._idle.pop()
            if asyncio.get_running_loop().time() - since < IDLE_SECONDS and not reader.at_eof():
                return reader, writer
            writer.close()
        return await asyncio.open_connection("127.0.0.1", self._port)


async def open_loop(
    client: Client, conversations: Sequence[tuple[str, str]], rate: float, count: int, *, key: str
) -> Load:
    """Send `count` messages at `rate` a second, at random intervals that are the same in every run."""
    chance = random.Random(SEED)
    due, at = [], 0.0
    for _ in range(count):
        at += chance.expovariate(rate)
        due.append(at)
    load = Load([], [], [], 0.0)
    loop = asyncio.get_running_loop()
    start = loop.time() + 0.1
    latest_start = 0.0
    tasks = []

    async def send(message: Sent, scheduled: float) -> tuple[Sent, Answer, float]:
        answer = await client.append(message)
        seconds = loop.time() - scheduled
        return (message.accepted(answer) if answer.status == 202 else message), answer, seconds

    for number, moment in enumerate(due):
        wait = start + moment - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        latest_start = max(latest_start, loop.time() - start - moment)
        conversation_id, token = chance.choice(conversations)
        message = Sent(f"{key}-{number}", conversation_id, token, f"Message {number} of {key}.")
        tasks.append(asyncio.create_task(send(message, start + moment)))
    for message, answer, seconds in await asyncio.gather(*tasks):
        load.sent.append(message)
        load.answers.append(answer)
        load.seconds.append(seconds)
    return dataclasses.replace(load, latest_start=latest_start)
