"""A very small invented agent that is on Slack alone, and its binding, for tests of the harness itself.

It answers what mentions it or is written to it alone with what the model says. To `react NAME` it puts that emoji under
the message. A rate limit and a connection that is cut it answers by waiting for as long as it is told, or a second, and
calling again; before that it looks whether its answer is in the thread. It withdraws what was deleted before it came to
it, and takes an edit over.
"""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from invented_agent import InventedBinding
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import Clock, SignatureVerifier

from seatrial.binding import Agent, InputRefused, Sent, SlackExchange, World
from seatrial.conversation import ConversationState, Reply, Said, Turn
from seatrial.history import Exchange
from seatrial.inputs import WebMessage
from seatrial.slack import SlackMember, SlackRequest, SlackThread

PASSING = (http.client.RemoteDisconnected, ConnectionResetError)


@dataclass
class Thread:
    """One conversation: what waits by its timestamp, and what was said."""

    where: SlackThread
    waiting: dict[str, tuple[str, str]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    said: list[Said] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)


class Now(Clock):
    """The trial's clock, for Slack's library."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> float:
        return self._world.clock.now().timestamp()


class SlackAgent:
    """The agent. ``own`` counts the messages of its own that Slack has told it of, ``people`` whom it was told of."""

    def __init__(self, world: World) -> None:
        assert world.slack is not None
        self._world = world
        self._bot = world.slack.bot_user_id
        self._client = WebClient(world.slack.bot_token, base_url=world.slack.base_url, retry_handlers=[])
        self._verifier = SignatureVerifier(world.slack.signing_secret, clock=Now(world))
        self._threads: dict[str, Thread] = {}
        self.own = 0
        self.people: dict[str, str] = {}

    async def meet(self, member: SlackMember) -> None:
        self.people[member.user_id] = member.name

    async def receive(self, request: SlackRequest) -> None:
        if not self._verifier.is_valid_request(request.body, dict(request.headers)):
            raise InputRefused("the signature does not fit")
        event = json.loads(request.body)["event"]
        if event.get("bot_id"):
            self.own += 1
        elif event["type"] in ("app_mention", "message"):
            self._hear(event)

    def _hear(self, event: Mapping[str, Any]) -> None:
        subtype = event.get("subtype")
        about = event["message"] if subtype == "message_changed" else event
        if subtype == "message_deleted":
            about = event["previous_message"]
        where = SlackThread(event["channel"], about.get("thread_ts") or about["ts"])
        thread = self._threads.setdefault(self._name(where), Thread(where))
        spoken_to = f"<@{self._bot}>" in about["text"] or where.direct
        if subtype == "message_deleted":
            thread.waiting.pop(about["ts"], None)
        elif subtype == "message_changed" and about["ts"] in thread.waiting:
            thread.waiting[about["ts"]] = (about["user"], about["text"])
        elif subtype in (None, "file_share") and spoken_to and about["ts"] not in thread.seen:
            thread.seen.add(about["ts"])
            thread.waiting[about["ts"]] = (about["user"], about["text"])
            self._world.on_step("message.accepted", self._name(where), {})
            self._world.queue.send(self._name(where), "message", 0)

    def conversation_in(self, thread: SlackThread, starter: SlackMember) -> str:
        return self._name(thread)

    def _name(self, thread: SlackThread) -> str:
        return f"{thread.channel}/{thread.ts}"

    async def load_slack_history(
        self, turns: tuple[SlackExchange, ...], *, thread: SlackThread, starter: SlackMember, key: str
    ) -> str:
        there = self._threads.setdefault(self._name(thread), Thread(thread))
        for exchange in turns:
            for post in exchange.messages:
                assert post.member is not None and post.thread == thread
                there.said.append(Said(post.ts, post.member.name, post.text))
            self._reply(there, exchange.answer.ts, exchange.answer.text)
        return self._name(thread)

    async def work(self) -> None:
        """Be the worker: take what the harness hands out, until cancelled."""
        while True:
            parcel = await self._world.queue.take()
            thread = self._threads[parcel.subject]
            while thread.waiting:
                ts = next(iter(thread.waiting))
                user, text = thread.waiting.pop(ts)
                thread.said.append(Said(ts, self.people[user], text))
                await self._answer(parcel.subject, thread, ts, text.replace(f"<@{self._bot}> ", ""))
            self._world.queue.finish(parcel.number)

    async def _answer(self, name: str, thread: Thread, ts: str, text: str) -> None:
        where = {"channel": thread.where.channel, "thread_ts": thread.where.ts}
        status = {"channel_id": thread.where.channel, "thread_ts": thread.where.ts, "status": "is thinking…"}
        await self._call("assistant.threads.setStatus", status)
        self._world.on_step("model.requested", name, {})
        answer = await self._ask(name, text)
        if text.startswith("react "):
            reaction = {"channel": thread.where.channel, "timestamp": ts, "name": text.removeprefix("react ")}
            await self._call("reactions.add", reaction)
        posted = await self._call("chat.postMessage", {**where, "text": answer})
        self._reply(thread, posted["ts"], answer)
        self._world.on_step("reply.delivered", name, {})

    def _reply(self, thread: Thread, ts: str, text: str) -> None:
        turn = f"turn {len(thread.turns) + 1}"
        reply = Reply(ts, text, "answer", turn)
        thread.said.append(Said(ts, "agent", text))
        thread.turns.append(Turn(turn, "succeeded", (reply,), ()))

    async def _call(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                answer = (await asyncio.to_thread(self._client.api_call, method, json=arguments)).data
                assert isinstance(answer, dict)
                return answer
            except SlackApiError as error:
                if error.response.status_code != 429:
                    raise
                await self._world.timer.sleep(int(error.response.headers["retry-after"]))
            except PASSING:
                await self._world.timer.sleep(1)
                if (there := await self._there(arguments)) is not None:
                    return there

    async def _there(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        where = {"channel": arguments["channel"], "ts": arguments["thread_ts"]}
        page = await asyncio.to_thread(self._client.api_call, "conversations.replies", params=where)
        last: dict[str, Any] = page["messages"][-1]
        return last if last["text"] == arguments["text"] else None

    async def _ask(self, name: str, text: str) -> str:
        body = {"model": "invented", "messages": [{"role": "user", "content": text}]}
        headers = {"x-role": "agent", "x-conversation": name}
        async with httpx.AsyncClient(timeout=None) as client:
            response = await client.post(f"{self._world.model_url}/chat/completions", json=body, headers=headers)
        return str(response.json()["choices"][0]["message"]["content"]) if response.status_code == 200 else "error"

    async def read(self, conversation_id: str) -> ConversationState:
        thread = self._threads[conversation_id]
        replies = tuple(reply for turn in thread.turns for reply in turn.replies)
        return ConversationState(conversation_id, None, replies, tuple(thread.turns), tuple(thread.said))

    async def send(self, item: WebMessage, *, conversation_id: str | None, key: str) -> Sent:
        raise InputRefused("there is no web")

    async def load_history(self, turns: tuple[Exchange, ...], *, conversation_id: str | None, key: str) -> str:
        raise NotImplementedError

    async def insert(self, kind: str, data: Mapping[str, Any], *, key: str) -> None:
        raise NotImplementedError

    def pending(self) -> tuple[str, ...]:
        return ()

    def errors(self) -> tuple[str, ...]:
        return ()


class RefusesItsOwn(SlackAgent):
    """The agent whose route refuses what it has said itself."""

    async def receive(self, request: SlackRequest) -> None:
        if json.loads(request.body)["event"].get("bot_id"):
            raise InputRefused("the route answered 400")
        await super().receive(request)


class SlackBinding(InventedBinding):
    """The binding of the agent; ``agents`` are those that it has made."""

    def __init__(self, kind: type[SlackAgent] = SlackAgent) -> None:
        super().__init__()
        self._kind = kind
        self.agents: list[SlackAgent] = []

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        agent = self._kind(world)
        self.agents.append(agent)
        worker = asyncio.ensure_future(agent.work())
        try:
            yield agent
        finally:
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
