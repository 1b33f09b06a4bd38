"""A very small invented agent and its binding, for tests of the harness itself.

It has one conversation route, one tool and no stores. Its ways of doing wrong are the ways that the harness has to see.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from seatrial.binding import Agent, Composition, InputRefused, Sent, World
from seatrial.conversation import ConversationState, Reply, Said, ToolCall, Turn
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
    "works_on_another_conversation_too",
)


@dataclass
class Thread:
    """One conversation of the invented agent."""

    begun: str
    said: list[Said] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def say(self, author: str, text: str) -> str:
        """Keep what somebody said; return its id."""
        self.said.append(Said(f"said {len(self.said) + 1}", author, text))
        return self.said[-1].id


class InventedAgent:
    """Answers each message with what the model says, in the way that it was made for.

    An answer that ends with `look up X` is a call of its one tool, which finds the notes that hold X; what it finds is
    asked about next. A message that is `when` is asked with the time and that of the conversation's beginning.
    """

    def __init__(self, world: World, way: str) -> None:
        self._world = world
        self._way = way
        self._threads: dict[str, Thread] = {}
        self._notes: list[str] = []

    async def send(self, item: Input, *, conversation_id: str | None, key: str) -> Sent:
        if self._way == "refuses":
            raise InputRefused("the route answered 503")
        name = conversation_id or self._open()
        self._step(name, "message.accepted")
        self._threads[name].waiting.append(item.text)
        self._world.queue.send(name, "message", 0)
        return Sent(name, key)

    def _open(self) -> str:
        name = f"conversation {len(self._threads) + 1}"
        self._threads[name] = Thread(self._now())
        return name

    def _now(self) -> str:
        return self._world.clock.now().strftime("%Y-%m-%d %H:%M")

    async def work(self) -> None:
        """Be the worker: take what the harness hands out, until cancelled."""
        while True:
            parcel = await self._world.queue.take()
            waiting = self._threads[parcel.subject].waiting
            while waiting:
                await self._turn(parcel.subject, waiting.pop(0))
            self._world.queue.finish(parcel.number)

    async def _turn(self, name: str, text: str) -> None:
        thread = self._threads[name]
        thread.say("person", text)
        asked = f"when: {self._now()}, begun {thread.begun}" if text == "when" else text
        answer = "I did not ask." if self._way == "asks_nobody" else await self._ask(name, asked)
        if self._way == "asks_twice":
            answer += await self._ask(name, text)
        calls: list[ToolCall] = []
        while (query := answer.rpartition("look up ")[2]) != answer:
            calls.append(self._look_up(name, f"call {len(calls) + 1} of turn {len(thread.turns) + 1}", query))
            answer = await self._ask(name, str(calls[-1].output))
        turn = f"turn {len(thread.turns) + 1}"
        reply = Reply(thread.say("agent", answer), answer, "answer", turn)
        thread.turns.append(Turn(turn, "succeeded", (reply,), tuple(calls)))
        self._step(name, "reply.delivered")
        if self._way == "fails_in_background":
            self._world.background.submit("title", name, self._fail)
        if self._way == "works_on_another_conversation_too":
            self._step("another conversation", "tool.called")
        if self._way == "reports_an_unknown_step":
            self._world.on_step("turn.imagined", name, {})

    def _look_up(self, name: str, call_id: str, query: str) -> ToolCall:
        self._step(name, "tool.called")
        found = [note for note in self._notes if query in note]
        self._step(name, "tool.finished")
        output = f"found {', '.join(found) or 'nothing'}"
        return ToolCall(call_id, "look_up", "succeeded", {"query": query, "limit": 3}, output)

    async def _fail(self) -> None:
        raise RuntimeError("no title came")

    async def _ask(self, name: str, text: str) -> str:
        if self._way != "reports_no_steps":
            self._step(name, "model.requested")
        body = {"model": "invented", "messages": [{"role": "user", "content": text}]}
        headers = {"x-role": "agent", "x-conversation": name}
        async with httpx.AsyncClient() as client:
            response = await client.post(f"{self._world.model_url}/chat/completions", json=body, headers=headers)
        if response.status_code == 200:
            return str(response.json()["choices"][0]["message"]["content"])
        if self._way == "waits_and_asks_again":
            await self._world.timer.sleep(30)
            return await self._ask(name, text)
        return "error"

    def _step(self, conversation_id: str, name: str) -> None:
        self._world.on_step(name, conversation_id, {})

    async def read(self, conversation_id: str) -> ConversationState:
        thread = self._threads[conversation_id]
        replies = tuple(reply for turn in thread.turns for reply in turn.replies)
        return ConversationState(conversation_id, None, replies, tuple(thread.turns), tuple(thread.said))

    async def load_history(self, turns: tuple[Exchange, ...], *, conversation_id: str | None, key: str) -> str:
        name = conversation_id or self._open()
        thread = self._threads[name]
        for exchange in turns:
            for message in exchange.messages:
                thread.say("person", message.text)
            turn = f"turn {len(thread.turns) + 1}"
            reply = Reply(thread.say("agent", exchange.reply.text), exchange.reply.text, "answer", turn)
            calls = tuple(
                ToolCall(f"call {number} of {turn}", tool.name, "succeeded", tool.input, tool.output)
                for number, tool in enumerate(exchange.reply.tools, start=1)
            )
            thread.turns.append(Turn(turn, "succeeded", (reply,), calls))
        return name

    async def insert(self, kind: str, data: Mapping[str, Any], *, key: str) -> None:
        self._notes.append(f"{data['text']} ({data['about']})")

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

    def check_setup(self, kind: str, data: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        return () if "notes" in composition.plugins else (f"'{kind}' needs the plugin 'notes': add it",)

    def check_tool_call(self, name: str, input: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        return () if name == "look_up" else (f"there is no tool '{name}'",)

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
