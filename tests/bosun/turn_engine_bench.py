"""The engine on real stores, with a model that is asked and never answers: for what happens while a turn runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from conftest import START, CountedIds, HandClock, KeptSteps
from hand_timer import HandTimer
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_bench import ONE_PROFILE, Gadgets

from bosun.clock import CalendarPolicy
from bosun.context.assembler import ContextAssembler
from bosun.context.sources import AccountSnapshot
from bosun.limits import Limits
from bosun.log.messages import ConversationRecord, InboundMessage, interrupts
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.running import RunningTurn, StopBell
from bosun.mailbox.state import Taken
from bosun.mailbox.steering import CrossActor, TurnRun
from bosun.model.client import ModelAnswer, ModelRequest
from bosun.model.guardian import Guardian
from bosun.model.profiles import Profile
from bosun.model.router import Router
from bosun.turn.compaction import Compactor
from bosun.turn.delivery import WebDelivery
from bosun.turn.engine import TurnEngine
from bosun.turn.thinking import Thinking
from bosun.turn.tool_calls import ToolCalls

CONVERSATION = "web:c"


@dataclass
class Unanswered:
    """What a turn asks, and who waits for it in vain."""

    asked: list[ModelRequest] = field(default_factory=list)
    aborted: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Wait for ever."""
        self.asked.append(request)
        self.came.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.aborted += 1
        raise AssertionError("nobody answers")


class OneAccount:
    """The account of everybody."""

    async def load(self, account_id: str) -> AccountSnapshot:
        """Return it."""
        return AccountSnapshot(display_name="Acme", plan="team", projects=(), updated_at=START)


class EngineBench:
    """One conversation, its mailbox, and the engine."""

    def __init__(
        self,
        engine: AsyncEngine,
        redis: Redis,
        limits: Limits | None = None,
        profiles: tuple[Profile, ...] = ONE_PROFILE,
    ) -> None:
        self.clock, self.steps, self.gadgets = HandClock(), KeptSteps(), Gadgets()
        self.timer, self.bell, self.model = HandTimer(self.clock), StopBell(), Unanswered()
        ids = CountedIds()
        self.log = ConversationLog(engine, clock=self.clock, ids=ids)
        self.reader = ConversationReader(engine)
        self.mailbox = Mailbox(redis, clock=self.clock, ids=ids, steps=self.steps, attempts=3)
        tools = ToolCalls(
            [self.gadgets], log=self.log, reader=self.reader, guardian=Guardian(self.model), steps=self.steps, most=150
        )
        self.thinking = Thinking(
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
            router=Router(self.model, profiles),
            tools=tools,
            steps=self.steps,
            contracts={},
        )
        self.engine = TurnEngine(
            log=self.log,
            reader=self.reader,
            thinking=self.thinking,
            tools=tools,
            delivery=WebDelivery(self.log, self.steps),
            clock=self.clock,
            timer=self.timer,
            limits=limits or Limits(),
        )

    async def open(self) -> None:
        """Make the conversation."""
        await self.log.open_conversation(ConversationRecord(id=CONVERSATION, account_id="a", actor_id="morgan"))

    async def say(self, key: str, text: str = "", actor: str = "morgan") -> InboundMessage:
        """Put a message into the mailbox, as a route does."""
        said = InboundMessage(
            id=key,
            actor_id=actor,
            author=actor.title(),
            text=text or f"text {key}",
            received_at=START,
            interrupt=interrupts(text),
        )
        await self.mailbox.append(CONVERSATION, said)
        return said

    async def take(self, reason: str = "message") -> Taken:
        """Lease the conversation, which has work."""
        taken = await self.mailbox.take(CONVERSATION, "resume" if reason == "resume" else "message")
        assert isinstance(taken, Taken)
        return taken

    def steering(self, taken: Taken, cross_actor: CrossActor = "follow_up") -> RunningTurn:
        """Return the turn's view of the mailbox."""
        return RunningTurn(
            taken.lease,
            mailbox=self.mailbox,
            bell=self.bell,
            timer=self.timer,
            steps=self.steps,
            cross_actor=cross_actor,
        )

    async def run(self, taken: Taken) -> asyncio.Task[TurnRun]:
        """Make messages visible, and begin a slice; return when it has asked the model."""
        for message in taken.batch:
            await self.log.accept_message(CONVERSATION, message)
        self.model.came.clear()
        slice_ = asyncio.create_task(self.engine.run(CONVERSATION, taken.batch, self.steering(taken)))
        await self.model.came.wait()
        return slice_

    async def types(self) -> list[str]:
        """Return the types of the conversation's rows."""
        return [event.payload.type for event in await self.reader.events(CONVERSATION)]
