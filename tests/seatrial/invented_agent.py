"""A very small invented agent and its binding, for tests of the harness itself.

It has routes for messages, stops and forks, one tool and no stores. Its ways of doing wrong are the ways that the
harness has to see.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from seatrial.binding import Agent, Composition, InputRefused, Sent, World
from seatrial.conversation import ConversationState, Reply, ReplyKind, Said, ToolCall, Turn, TurnStatus
from seatrial.headers import HeaderNames
from seatrial.history import Exchange
from seatrial.inputs import WebMessage

WAYS = (
    "right",
    "asks_for_a_title",
    "asks_nobody",
    "asks_twice",
    "fails_in_background",
    "fails_when_it_stops",
    "ignores_a_stop",
    "leaves_a_repair",
    "refuses",
    "reports_an_unknown_step",
    "reports_no_steps",
    "waits_and_asks_again",
    "works_on_another_conversation_too",
)


@dataclass
class Running:
    """A turn that is not over: what it asks next, and what its author has sent since it began."""

    author: str
    asks: str
    steering: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


@dataclass
class Thread:
    """One conversation of the invented agent."""

    begun: str
    said: list[Said] = field(default_factory=list)
    waiting: list[WebMessage] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    running: Running | None = None
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, author: str, text: str) -> str:
        """Keep what somebody said; return its id."""
        self.said.append(Said(f"said {len(self.said) + 1}", author, text))
        return self.said[-1].id


class InventedAgent:
    """Answers each message with what the model says, in the way that it was made for.

    It has one tool, which finds the notes that hold a text, and asks about what was found next; an answer that ends
    with `look up X` calls it too. A message that is `when` is asked with the time and that of the conversation's
    beginning. What the author of a turn sends while it runs joins its next request, and an answer for which it came too
    late is not used; what others send waits. A turn that has run for `limits.slice_seconds` gives its request up and
    pauses.
    """

    def __init__(self, world: World, way: str) -> None:
        self._world = world
        self._way = way
        self._threads: dict[str, Thread] = {}
        self._notes: list[str] = []

    async def send(self, item: WebMessage, *, conversation_id: str | None, key: str) -> Sent:
        if self._way == "refuses":
            raise InputRefused("the route answered 503")
        name = conversation_id or self._open()
        thread = self._threads[name]
        self._step(name, "message.accepted")
        if thread.running is not None and thread.running.author == item.author:
            thread.running.steering.append(item.text)
        else:
            thread.waiting.append(item)
        self._world.queue.send(name, "message", 0)
        return Sent(name, key)

    async def stop(self, conversation_id: str, *, author: str) -> None:
        self._threads[conversation_id].waiting.clear()
        if self._way != "ignores_a_stop":
            self._threads[conversation_id].stopped.set()

    async def fork(self, conversation_id: str, message_id: str, *, key: str) -> str:
        thread = self._threads[conversation_id]
        place = next((at for at, said in enumerate(thread.said, start=1) if said.id == message_id), None)
        if place is None or thread.said[place - 1].author != "agent":
            raise InputRefused(f"there is no reply '{message_id}'")
        name = self._open()
        there = {said.id for said in thread.said[:place]}
        turns = [turn for turn in thread.turns if all(reply.id in there for reply in turn.replies)]
        self._threads[name] = Thread(self._now(), thread.said[:place], [], turns)
        return name

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
            thread = self._threads[parcel.subject]
            if parcel.reason == "resume" and thread.running is not None:
                await self._slice(parcel.subject, thread, thread.running)
            while thread.running is None and thread.waiting:
                message = thread.waiting.pop(0)
                thread.say("person", message.text)
                thread.stopped.clear()
                thread.running = Running(message.author, message.text)
                thread.turns.append(Turn(f"turn {len(thread.turns) + 1}", "started", (), ()))
                await self._slice(parcel.subject, thread, thread.running)
            self._world.queue.finish(parcel.number)

    async def _slice(self, name: str, thread: Thread, running: Running) -> None:
        """Run the turn until it is over, somebody stops it, or its time is up."""
        thinking = asyncio.ensure_future(self._turn(name, thread, running))
        rivals: list[asyncio.Future[Any]] = [asyncio.ensure_future(thread.stopped.wait())]
        if seconds := self._world.composition.limits.get("slice_seconds"):
            rivals.append(asyncio.ensure_future(self._world.timer.sleep(seconds)))
        both: list[asyncio.Future[Any]] = [thinking, *rivals]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        if thread.stopped.is_set():
            self._end(name, thread, running, "no_reply", "I stopped.", "notice")
        elif self._way == "leaves_a_repair":
            self._world.queue.send(name, "repair", 15)
        elif not thinking.cancelled():
            self._end(name, thread, running, "succeeded", thinking.result(), "answer")
        else:
            self._step(name, "turn.paused")
            self._world.queue.send(name, "resume", 0)

    async def _turn(self, name: str, thread: Thread, running: Running) -> str:
        """Ask, call the tool and ask about what it found, until an answer wants no tool and nobody adds anything."""
        while True:
            for text in running.steering:
                thread.say("person", text)
            running.asks = " / ".join((running.asks, *running.steering))
            running.steering.clear()
            asked = f"when: {self._now()}, begun {thread.begun}" if running.asks == "when" else running.asks
            answer, queries = ("I did not ask.", []) if self._way == "asks_nobody" else await self._ask(name, asked)
            if self._way == "asks_twice":
                answer += (await self._ask(name, asked))[0]
            if thread.stopped.is_set():
                return ""
            if running.steering:
                continue
            if not queries:
                return answer
            turn = len(thread.turns)
            found = [self._look_up(name, f"call {len(running.calls) + 1} of turn {turn}", each) for each in queries]
            running.calls += found
            running.asks = "; ".join(str(call.output) for call in found)

    def _end(self, name: str, thread: Thread, running: Running, status: TurnStatus, text: str, kind: ReplyKind) -> None:
        turn = thread.turns[-1].id
        reply = Reply(thread.say("agent", text), text, kind, turn)
        thread.turns[-1] = Turn(turn, status, (reply,), tuple(running.calls))
        thread.running = None
        self._step(name, "reply.delivered")
        if self._way == "fails_in_background":
            self._world.background.submit("title", name, self._fail)
        if self._way == "asks_for_a_title":
            self._world.background.submit("title", name, self._title(name))
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

    def _title(self, name: str) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            await self._ask(name, "a title", role="title")

        return work

    async def _fail(self) -> None:
        raise RuntimeError("no title came")

    async def _ask(self, name: str, text: str, *, role: str = "agent") -> tuple[str, list[str]]:
        """Return what the model says, and what it wants to have looked up."""
        if self._way != "reports_no_steps":
            self._step(name, "model.requested")
        body = {"model": "invented", "messages": [{"role": "user", "content": text}]}
        headers = {"x-role": role, "x-conversation": name}
        async with httpx.AsyncClient(timeout=None) as client:
            response = await client.post(f"{self._world.model_url}/chat/completions", json=body, headers=headers)
        if response.status_code == 200:
            message = response.json()["choices"][0]["message"]
            said = str(message["content"] or "")
            calls = [json.loads(call["function"]["arguments"])["query"] for call in message.get("tool_calls", [])]
            query = said.rpartition("look up ")[2]
            return said, calls or ([query] if query != said else [])
        if self._way == "waits_and_asks_again":
            await self._world.timer.sleep(30)
            return await self._ask(name, text)
        return "error", []

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

    def agent(self, world: World) -> InventedAgent:
        """Make the agent."""
        return InventedAgent(world, self._way)

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        agent = self.agent(world)
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


class TalksOnly:
    """The binding of an agent that takes messages and can no more: it has neither stops nor forks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(InventedBinding(), name)

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        async with InventedBinding().running(world) as agent:
            yield _Talker(agent)


class _Talker:
    def __init__(self, agent: Agent) -> None:
        self.send, self.read, self.load_history = agent.send, agent.read, agent.load_history
        self.insert, self.pending, self.errors = agent.insert, agent.pending, agent.errors
