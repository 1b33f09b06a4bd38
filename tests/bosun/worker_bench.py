"""A worker on real stores whose turns are counted, and whose queue is a test's hand: no model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from conftest import START, KeptSteps
from redis.asyncio import Redis

from bosun.background import TaskGroupRunner
from bosun.limits import Limits
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.overhearing import Overhearing
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.hearing import Hearing, ReplyPolicy
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import Delivery, Nudge, NudgeReason
from bosun.mailbox.running import StopBell
from bosun.mailbox.steering import Ended, Paused, Steering, TurnRun
from bosun.mailbox.titling import TitleHandover
from bosun.mailbox.worker import Worker


class HandQueue:
    """A queue that gives what it was sent, whatever the delay, and says when a delivery is done."""

    def __init__(self) -> None:
        self.sent: list[tuple[Nudge, float]] = []
        self._waiting: asyncio.Queue[Nudge] = asyncio.Queue()
        self._done: asyncio.Queue[Nudge] = asyncio.Queue()

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Note the nudge; a test delivers it."""
        self.sent.append((nudge, delay))

    async def receive(self) -> Delivery:
        """Wait for the test."""
        return Delivery(await self._waiting.get(), "token")

    async def done(self, delivery: Delivery) -> None:
        """Tell the test."""
        self._done.put_nowait(delivery.nudge)

    async def deliver(self, nudge: Nudge) -> None:
        """Deliver a nudge and return when the worker is done with it."""
        self._waiting.put_nowait(nudge)
        await self._done.get()


class StillTimer:
    """A timer in which no time passes."""

    def monotonic(self) -> float:
        """Stand still."""
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait for ever, unless there is nothing to wait for."""
        if seconds > 0:
            await asyncio.Event().wait()

    async def deadline(self, seconds: float) -> None:
        """Wait as for anything."""
        await self.sleep(seconds)


@dataclass
class CountedTurns:
    """Ends each turn by the log's own function, or raises, or never ends."""

    log: ConversationLog
    batches: list[list[str]] = field(default_factory=list)
    given_up: list[list[str]] = field(default_factory=list)
    stopped: list[list[str]] = field(default_factory=list)
    fault: Exception | None = None
    started: asyncio.Event = field(default_factory=asyncio.Event)
    endless: bool = False
    pauses: int = 0

    async def run(self, conversation_id: str, batch: Sequence[InboundMessage], steering: Steering) -> TurnRun:
        """Count the batch and end its turn without a word."""
        self.batches.append([message.id for message in batch])
        turn = await self.log.start_turn(conversation_id, batch)
        self.started.set()
        if self.fault is not None:
            raise self.fault
        if self.endless:
            await asyncio.Event().wait()
        if self.pauses:
            self.pauses -= 1
            return Paused()
        await self.log.commit_no_reply(turn)
        return Ended(turn.message_ids)

    async def stop(self, conversation_id: str, messages: Sequence[InboundMessage]) -> None:
        """Count the messages and stop their turn."""
        self.stopped.append([message.id for message in messages])
        await self.log.commit_stop(conversation_id, messages, "Stopped.")

    async def give_up(self, conversation_id: str, batch: Sequence[InboundMessage]) -> Sequence[str]:
        """Count the batch and fail its turn."""
        self.given_up.append([message.id for message in batch])
        turn = await self.log.start_turn(conversation_id, batch)
        await self.log.commit_failure(turn, "unknown", "No.")
        return turn.message_ids


@dataclass
class Bench:
    """A running worker and what is around it."""

    queue: HandQueue
    turns: CountedTurns
    mailbox: Mailbox
    titled: list[tuple[str, str]]

    async def append(self, key: str, actor: str = "morgan", *, automated: bool = False) -> None:
        """Put a message into the mailbox, as a route does."""
        said = InboundMessage(
            id=key,
            actor_id=actor,
            author=actor.title(),
            text=f"text {key}",
            received_at=START,
            automated=automated,
        )
        await self.mailbox.append("web:c", said)

    async def nudge(self, reason: NudgeReason = "message") -> None:
        """Let the worker look at the conversation, to its end."""
        await self.queue.deliver(Nudge("web:c", reason))


@dataclass
class Room:
    """Makes benches on the test's stores."""

    log: ConversationLog
    reader: ConversationReader
    mailbox: Mailbox
    steps: KeptSteps
    redis: Redis
    overhearing: Overhearing
    policy: ReplyPolicy | None = None
    titles: Callable[[str, str], Awaitable[None]] | None = None
    """What writes titles, where it is not the bench."""

    @asynccontextmanager
    async def bench(self, drain_seconds: float = 20.0) -> AsyncIterator[Bench]:
        """Run a worker for a while."""
        await self.log.open_conversation(ConversationRecord(id="web:c", account_id="a", actor_id="morgan"))
        bench = Bench(HandQueue(), CountedTurns(self.log), self.mailbox, [])

        async def title(conversation_id: str, text: str) -> None:
            bench.titled.append((conversation_id, text))
            await self.log.set_title(conversation_id, "A title")

        write = self.titles or title
        async with TaskGroupRunner() as background:
            worker = Worker(
                queue=bench.queue,
                mailbox=self.mailbox,
                log=self.log,
                reader=self.reader,
                titles=TitleHandover(self.reader, background, write, self.steps, self.redis),
                hearing=Hearing(
                    log=self.log,
                    overhearing=self.overhearing,
                    reader=self.reader,
                    mailbox=self.mailbox,
                    policy=self.policy,
                ),
                turns=bench.turns,
                timer=StillTimer(),
                steps=self.steps,
                limits=Limits(workers=1, drain_seconds=drain_seconds, automated_turns=2),
                bell=StopBell(),
            )
            async with asyncio.TaskGroup() as group:
                await worker.start(group)
                try:
                    yield bench
                finally:
                    await worker.stop()
