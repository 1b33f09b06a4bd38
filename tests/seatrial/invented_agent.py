"""A very small invented agent and its binding, for tests of the harness itself.

It has one conversation route and no stores. Its ways of doing wrong are the ways that the harness has to see.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from seatrial.binding import Agent, Composition, InputRefused, Sent, World
from seatrial.conversation import ConversationState, Reply, Turn
from seatrial.headers import HeaderNames
from seatrial.history import Exchange
from seatrial.inputs import Input
from seatrial.serving import Receive, Scope, Send, serve

WAYS = (
    "right",
    "asks_nobody",
    "asks_twice",
    "fails_in_background",
    "fails_when_it_stops",
    "refuses",
    "reports_an_unknown_step",
    "reports_no_steps",
    "waits_and_asks_again",
)


class InventedAgent:
    """Answers each message with what the model says, in the way that it was made for."""

    def __init__(self, world: World, way: str) -> None:
        self._world = world
        self._way = way
        self._said: list[tuple[str, str]] = []
        self._waiting: list[str] = []
        self._turns: list[Turn] = []

    async def send(self, item: Input, *, conversation_id: str | None, key: str) -> Sent:
        if self._way == "refuses":
            raise InputRefused("the route answered 503")
        self._step("message.accepted")
        self._waiting.append(item.text)
        self._world.queue.send("only", "message", 0)
        return Sent("only", key)

    async def work(self) -> None:
        """Be the worker: take what the harness hands out, until cancelled."""
        while True:
            parcel = await self._world.queue.take()
            while self._waiting:
                await self._turn(self._waiting.pop(0))
            self._world.queue.finish(parcel.number)

    async def _turn(self, text: str) -> None:
        self._said.append(("person", text))
        answer = "I did not ask." if self._way == "asks_nobody" else await self._ask(text)
        if self._way == "asks_twice":
            answer += await self._ask(text)
        self._said.append(("agent", answer))
        number = len(self._turns) + 1
        self._turns.append(Turn(f"turn {number}", "succeeded", (self._reply(number, answer),), ()))
        self._step("reply.delivered")
        if self._way == "fails_in_background":
            self._world.background.submit("title", "only", self._fail)
        if self._way == "reports_an_unknown_step":
            self._world.on_step("turn.imagined", "only", {})

    async def _fail(self) -> None:
        raise RuntimeError("no title came")

    async def _ask(self, text: str) -> str:
        if self._way != "reports_no_steps":
            self._step("model.requested")
        body = {"model": "invented", "messages": [{"role": "user", "content": text}]}
        headers = {"x-role": "agent", "x-conversation": "only"}
        async with httpx.AsyncClient() as client:
            response = await client.post(f"{self._world.model_url}/chat/completions", json=body, headers=headers)
        if response.status_code == 200:
            return str(response.json()["choices"][0]["message"]["content"])
        if self._way == "waits_and_asks_again":
            await self._world.timer.sleep(30)
            return await self._ask(text)
        return "error"

    def _step(self, name: str) -> None:
        self._world.on_step(name, "only", {})

    def _reply(self, number: int, text: str) -> Reply:
        return Reply(f"reply {number}", text, "answer", f"turn {number}")

    async def read(self, conversation_id: str) -> ConversationState:
        replies = tuple(reply for turn in self._turns for reply in turn.replies)
        return ConversationState("only", None, replies, tuple(self._turns), tuple(self._said))

    async def load_history(self, turns: tuple[Exchange, ...], *, conversation_id: str | None, key: str) -> str:
        for turn in turns:
            self._said += [("person", message.text) for message in turn.messages]
            self._said.append(("agent", turn.reply.text))
        return "only"

    def pending(self) -> tuple[str, ...]:
        return ()

    def errors(self) -> tuple[str, ...]:
        return ()


class InventedBinding:
    """The binding of the invented agent; ``way`` is how it behaves."""

    header_names = HeaderNames(role="x-role", conversation="x-conversation")
    model_aliases = ("invented",)
    needs_stores = False

    def __init__(self, way: str = "right") -> None:
        assert way in WAYS
        self._way = way

    def contracts(self, composition: Composition) -> Mapping[str, int]:
        return {"output.reply": 1}

    def check_snapshot(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

    def check_limits(self, limits: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

    def database_fingerprint(self) -> str:
        return "none"

    def prepare_database(self, postgres_url: str) -> None:
        return None

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        agent = InventedAgent(world, self._way)
        worker = asyncio.ensure_future(agent.work())
        try:
            yield agent
        finally:
            if self._way == "waits_and_asks_again":
                await world.timer.sleep(20)  # as an agent does that gives its work so long to end
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
            if self._way == "fails_when_it_stops":
                raise RuntimeError("the agent did not stop cleanly")


class FailsWhenItStops(InventedBinding):
    """The binding of an agent whose end fails, for who names a binding by its class."""

    def __init__(self) -> None:
        super().__init__("fails_when_it_stops")


@asynccontextmanager
async def echo_model() -> AsyncIterator[str]:
    """Serve a model that repeats the last message; yield its base URL. It stands where a real upstream is."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        text = json.loads(body)["messages"][-1]["content"]
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "echo",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": f"You said: {text}"}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        }
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async with serve(app, lifespan=False) as url:
        yield f"{url}/v1"
