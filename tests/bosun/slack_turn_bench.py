"""Turns whose words leave to a small Slack: the real delivery on a real log, with a timer that keeps nobody waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from conftest import START, CountedIds, HandClock, KeptSteps
from slack_server import CHANNEL, ROOT, SlackServer
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_bench import ONE_PROFILE, Gadgets
from turn_engine_bench import OneAccount

from bosun.clock import CalendarPolicy
from bosun.context.assembler import ContextAssembler
from bosun.limits import Limits
from bosun.log.messages import ConversationRecord, InboundMessage, Turn
from bosun.log.projection import conversation_view
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.steering import SteeringRead
from bosun.model.client import ModelAnswer, ModelRequest
from bosun.model.guardian import Guardian
from bosun.model.router import Router
from bosun.slack.egress import SlackEgress
from bosun.turn.compaction import Compactor
from bosun.turn.delivery import WebDelivery
from bosun.turn.engine import TurnEngine
from bosun.turn.posting import PostedDelivery
from bosun.turn.routing import RoutedDelivery
from bosun.turn.thinking import Thinking
from bosun.turn.tool_calls import ToolCalls

CONVERSATION = f"slack:{CHANNEL}:{ROOT}"
THREE_PARTS = "\n\n".join(letter * 3_000 for letter in "abc")
"""Longer than two messages of Slack's."""


@dataclass
class EagerTimer:
    """Time that passes as soon as somebody pauses. Deadlines do not pass."""

    slept: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        """Return the seconds that were waited for."""
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        """Return at once."""
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def deadline(self, seconds: float) -> None:
        """Never return."""
        await asyncio.Event().wait()


@dataclass
class Answers:
    """A model that says what it was given, and counts."""

    texts: list[str]
    asked: int = 0

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer with the next text."""
        self.asked += 1
        return ModelAnswer(text=self.texts[self.asked - 1], finish_reason="stop")


@dataclass
class Undisturbed:
    """A mailbox in which nothing comes, unless it is told to; a stop can be told, too."""

    waiting: list[InboundMessage] = field(default_factory=list)
    stops: bool = False

    async def read(self, turn: Turn) -> SteeringRead:
        """Return what there is."""
        return SteeringRead(tuple(m for m in self.waiting if m.id not in turn.message_ids), self.stops)

    async def joined(self, messages: Sequence[InboundMessage]) -> None:
        """Forget them."""
        self.waiting = [message for message in self.waiting if message not in messages]

    async def until_stopped(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    async def discarded(self) -> tuple[InboundMessage, ...]:
        """Return what waits."""
        return tuple(self.waiting)


class SlackBench:
    """One conversation in a thread, and what delivers in it."""

    def __init__(
        self,
        engine: AsyncEngine,
        slack: SlackServer,
        *,
        conversation_id: str = CONVERSATION,
        answers: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> None:
        limits = limits or Limits()
        self.id = conversation_id
        self.clock, self.steps, self.model = HandClock(), KeptSteps(), Answers(list(answers))
        self.timer = EagerTimer()
        ids = CountedIds()
        self.log = ConversationLog(engine, clock=self.clock, ids=ids)
        self.reader = ConversationReader(engine)
        self.slack = SlackEgress(slack.options(), timer=self.timer, reader=self.reader)
        self.delivery = PostedDelivery(
            self.log,
            self.reader,
            self.steps,
            source="slack",
            posts=self.slack.posts,
            presence=self.slack.statuses,
            stopped=self.slack.stopped,
        )
        tools = ToolCalls(
            [Gadgets()], log=self.log, reader=self.reader, guardian=Guardian(self.model), steps=self.steps, most=150
        )
        self.engine = TurnEngine(
            log=self.log,
            reader=self.reader,
            thinking=Thinking(
                log=self.log,
                reader=self.reader,
                assembler=ContextAssembler(
                    OneAccount(),
                    clock=self.clock,
                    calendar=CalendarPolicy(),
                    stale_after=self.clock.at - self.clock.at,
                    steps=self.steps,
                ),
                model=self.model,
                compactor=Compactor(model=self.model, log=self.log, steps=self.steps, window=32_000),
                router=Router(self.model, ONE_PROFILE),
                tools=tools,
                steps=self.steps,
                contracts={},
            ),
            tools=tools,
            delivery=RoutedDelivery(WebDelivery(self.log, self.steps), {"slack": self.delivery}),
            clock=self.clock,
            timer=self.timer,
            limits=limits,
        )

    def close(self) -> None:
        """End the threads of the calls."""
        self.slack.close()

    async def open(self) -> Turn:
        """Make the conversation, with an open turn for its first message."""
        await self.open_conversation()
        return await self.log.start_turn(self.id, [await self.say("1")])

    async def open_conversation(self) -> None:
        """Make the conversation, unless it is there."""
        record = ConversationRecord(id=self.id, account_id="standard", actor_id="morgan", location="slack")
        await self.log.open_conversation(record)

    async def say(self, key: str, source: str = "slack") -> InboundMessage:
        """Make a message visible."""
        said = self.message(key, source)
        await self.log.accept_message(self.id, said)
        return said

    def message(self, key: str, source: str = "slack") -> InboundMessage:
        """Return a message as a route took it in."""
        place = f"1700000000.{key:0>6}" if source == "slack" else None
        return InboundMessage(
            id=key,
            actor_id="morgan",
            author="Morgan",
            source=source,
            text=f"text {key}",
            received_at=START,
            place=place,
        )

    async def seen(self) -> list[tuple[str, str, str]]:
        """Return what people see of Bosun on the web: kind, text, and whether it belongs to a turn."""
        view = await self.view()
        return [
            (message["kind"], message["text"], message["turnId"] or "")
            for message in view["messages"]
            if message["role"] == "assistant"
        ]

    async def ends(self) -> list[tuple[str, str | None]]:
        """Return how each turn ended, and the kind of its failure."""
        return [(turn["status"], turn["error"]) for turn in (await self.view())["turns"]]

    async def types(self) -> list[str]:
        """Return the types of the conversation's rows."""
        return [event.payload.type for event in await self.reader.events(self.id)]

    async def view(self) -> dict[str, Any]:
        """Return the conversation as the reporting API shows it."""
        conversation = await self.reader.conversation(self.id)
        assert conversation is not None
        return conversation_view(conversation, await self.reader.events(self.id))
