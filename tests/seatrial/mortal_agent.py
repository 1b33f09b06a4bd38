"""A very small invented agent that can die, and its binding, for tests of the harness itself.

Its store outlives it, and it answers each message once, with what the model says. Dying is played: it stops where it
is, and no call reaches it until it is started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import httpx
from invented_agent import InventedBinding

from seatrial.binding import Agent, AgentGone, Sent, World
from seatrial.conversation import ConversationState, Reply, Said, Turn
from seatrial.inputs import WebMessage
from seatrial.kill import Kill, LogRow

POINTS = ("message.accepted", "message.taken", "model.answered", "reply.delivered")


@dataclass
class Stored:
    """One conversation. ``messages`` are texts by key, ``replies`` the answers to the first of them."""

    messages: dict[str, str] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)


class MortalAgent:
    """Dies at the ordered point, and in its way: ``of itself`` at its first request to the model."""

    kill_points = POINTS

    def __init__(self, world: World, way: str) -> None:
        self._world = world
        self._way = way
        self._store: dict[str, Stored] = {}
        self._kill: Kill | None = None
        self._since = self._seen = 0
        self._worker: asyncio.Task[None] | None = None
        self.died: asyncio.Future[str]

    async def restart(self) -> None:
        self.died = asyncio.get_running_loop().create_future()
        self._kill = None
        for name, stored in self._store.items():
            if len(stored.replies) < len(stored.messages):
                self._world.queue.send(name, "repair", 0)
        self._worker = asyncio.ensure_future(self._work())

    def kill_at(self, kill: Kill) -> None:
        self._kill, self._since, self._seen = kill, 0, 0

    def _step(self, name: str, conversation_id: str) -> None:
        self._world.on_step(name, conversation_id, {})
        kill = self._kill
        if kill is None:
            return
        if kill.since is not None and self._since < kill.since_nth:
            self._since += name == kill.since
            return
        self._seen += name == kill.at
        if name == kill.at and self._seen == kill.nth:
            self.die()

    def die(self) -> NoReturn:
        """Stop here. Raises AgentGone, for whoever is in the middle of a call."""
        self.died.set_result("it was killed")
        raise AgentGone("it was killed")

    async def end(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    async def send(self, item: WebMessage, *, conversation_id: str | None, key: str) -> Sent:
        name = conversation_id or f"conversation of {key}"
        self._store.setdefault(name, Stored()).messages.setdefault(key, item.text)
        self._step("message.accepted", name)
        self._world.queue.send(name, "message", 0)
        return Sent(name, key)

    async def _work(self) -> None:
        while True:
            parcel = await self._world.queue.take()
            stored = self._store[parcel.subject]
            self._step("message.taken", parcel.subject)
            for text in list(stored.messages.values())[len(stored.replies) :]:
                if self._way == "of itself":
                    self.die()
                answer = await self._ask(parcel.subject, text)
                self._step("model.answered", parcel.subject)
                stored.replies.append(answer)
                self._step("reply.delivered", parcel.subject)
            self._world.queue.finish(parcel.number)

    async def _ask(self, name: str, text: str) -> str:
        body = {"model": "invented", "messages": [{"role": "user", "content": text}]}
        headers = {"x-role": "agent", "x-conversation": name}
        async with httpx.AsyncClient(timeout=None) as client:
            response = await client.post(f"{self._world.model_url}/chat/completions", json=body, headers=headers)
        return str(response.json()["choices"][0]["message"]["content"])

    async def read(self, conversation_id: str) -> ConversationState:
        stored = self._store[conversation_id]
        said: list[Said] = []
        replies: list[Reply] = []
        for (key, text), answer in zip(stored.messages.items(), stored.replies, strict=False):
            replies.append(Reply(f"reply to {key}", answer, "answer", f"turn of {key}"))
            said += [Said(key, "person", text), Said(replies[-1].id, "agent", answer)]
        turns = tuple(
            Turn(f"turn of {key}", "succeeded", (r,), ()) for key, r in zip(stored.messages, replies, strict=False)
        )
        return ConversationState(conversation_id, None, tuple(replies), turns, tuple(said))

    async def log(self, conversation_id: str) -> tuple[LogRow, ...]:
        stored = self._store[conversation_id]
        kinds = ["message"] * len(stored.messages) + ["reply"] * len(stored.replies)
        return tuple(LogRow(number, kind) for number, kind in enumerate(kinds, start=1))

    async def load_history(self, turns: Any, *, conversation_id: str | None, key: str) -> str:
        raise NotImplementedError

    async def insert(self, kind: str, data: Any, *, key: str) -> None:
        raise NotImplementedError

    def pending(self) -> tuple[str, ...]:
        return ()

    def errors(self) -> tuple[str, ...]:
        return ()


class MortalBinding(InventedBinding):
    """The binding of the mortal agent."""

    def __init__(self, way: str = "right") -> None:
        super().__init__()
        self._end = way

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        agent = MortalAgent(world, self._end)
        await agent.restart()
        try:
            yield agent
        finally:
            await agent.end()
