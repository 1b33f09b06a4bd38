"""Connections that break in the middle of an attempt, wherever: the work is taken up again and done once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from conftest import START, CountedIds, HandClock, KeptSteps
from cutting_proxy import behind_proxies
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.background import TaskGroupRunner
from bosun.limits import Limits
from bosun.log.events import TurnCompleted
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.overhearing import Overhearing
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.hearing import Hearing
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import Delivery, Nudge
from bosun.mailbox.running import StopBell
from bosun.mailbox.steering import Ended, Steering, TurnRun
from bosun.mailbox.titling import TitleHandover
from bosun.mailbox.worker import BACKOFF_SECONDS, Worker
from embedded_services import Postgres, Valkey

pytestmark = pytest.mark.asyncio


class NextQueue:
    """A queue that says when the worker asks for the next nudge: then it is through with the last."""

    def __init__(self) -> None:
        self._given: asyncio.Queue[Nudge] = asyncio.Queue()
        self._asked: asyncio.Queue[None] = asyncio.Queue()

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Lose it: the test nudges."""

    async def receive(self) -> Delivery:
        """Ask the test."""
        self._asked.put_nowait(None)
        return Delivery(await self._given.get(), "token")

    async def done(self, delivery: Delivery) -> None:
        """Nobody keeps it."""

    async def ready(self) -> None:
        """Wait until the worker has nothing in hand."""
        await self._asked.get()

    async def nudge(self, conversation_id: str) -> None:
        """Nudge, and wait until the worker is through."""
        self._given.put_nowait(Nudge(conversation_id, "repair"))
        await self.ready()


class ImpatientTimer:
    """A timer on which the wait for a store that is away is over at once, and no other."""

    def monotonic(self) -> float:
        """Stand still."""
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait for ever, or not at all."""
        if seconds != BACKOFF_SECONDS:
            await asyncio.Event().wait()

    async def deadline(self, seconds: float) -> None:
        """Wait as for anything."""
        await self.sleep(seconds)


class SilentTurns:
    """Takes in what steers, and ends each turn without a word."""

    def __init__(self, log: ConversationLog) -> None:
        self._log = log

    async def run(self, conversation_id: str, batch: Sequence[InboundMessage], steering: Steering) -> TurnRun:
        """Make a turn of the batch and of what came meanwhile."""
        turn = await self._log.start_turn(conversation_id, batch)
        waiting = (await steering.read(turn)).messages
        turn = await self._log.join_turn(turn, waiting)
        await steering.joined(waiting)
        await self._log.commit_no_reply(turn)
        return Ended(turn.message_ids)

    async def stop(self, conversation_id: str, messages: Sequence[InboundMessage]) -> None:
        """Commit a stop."""
        await self._log.commit_stop(conversation_id, messages, "Stopped.")

    async def give_up(self, conversation_id: str, batch: Sequence[InboundMessage]) -> Sequence[str]:
        """Nothing is tried so often here."""
        raise AssertionError("the work was given up")


@asynccontextmanager
async def working(
    engine: AsyncEngine, redis: Redis, clock: HandClock
) -> AsyncIterator[tuple[NextQueue, ConversationLog, Mailbox]]:
    """Run a worker on these connections."""
    ids, steps, queue, timer = CountedIds(), KeptSteps(), NextQueue(), ImpatientTimer()
    log, reader = ConversationLog(engine, clock=clock, ids=ids), ConversationReader(engine)
    mailbox = Mailbox(redis, clock=clock, ids=ids, steps=steps, attempts=3)

    async def title(conversation_id: str, text: str) -> None:
        """Titles are not what is tested here."""

    async with TaskGroupRunner() as background, asyncio.TaskGroup() as group:
        worker = Worker(
            queue=queue,
            mailbox=mailbox,
            log=log,
            reader=reader,
            titles=TitleHandover(reader, background, title, steps, redis),
            hearing=Hearing(log=log, overhearing=Overhearing(engine, clock=clock), reader=reader, mailbox=mailbox),
            turns=SilentTurns(log),
            timer=timer,
            steps=steps,
            limits=Limits(workers=1),
            bell=StopBell(),
        )
        await worker.start(group)
        await queue.ready()
        yield queue, log, mailbox
        await worker.stop()


@pytest.mark.parametrize("store", ["postgres", "redis"])
@pytest.mark.parametrize("stopped", [False, True])
async def test_an_attempt_whose_connection_breaks_is_taken_up_again_and_done_once(
    cluster: Postgres, valkey: Valkey, engine: AsyncEngine, redis: Redis, store: str, stopped: bool
) -> None:
    """Wherever it breaks: no message is lost, none is handled twice, and no turn is left open."""
    clock, reader = HandClock(), ConversationReader(engine)
    plain = Mailbox(redis, clock=clock, ids=CountedIds(), steps=KeptSteps(), attempts=3)
    async with (
        behind_proxies(cluster, valkey) as (cut_engine, cut_redis, proxies),
        working(cut_engine, cut_redis, clock) as (queue, log, _),
    ):
        for number in range(1, 26):
            conversation_id = f"web:{number}"
            await log.open_conversation(ConversationRecord(id=conversation_id, account_id="a", actor_id="morgan"))
            for key in ("1", "2"):
                said = InboundMessage(id=key, actor_id="morgan", author="Morgan", text=key, received_at=START)
                await plain.append(conversation_id, said)
            if stopped:
                await plain.stop(conversation_id)
            proxies[store].cut_after(number)
            await queue.nudge(conversation_id)
            proxies[store].heal()
            for _ in range(3):  # a lease whose holder did not get the answer runs out first
                clock.advance(90)
                await queue.nudge(conversation_id)
            state = await plain.state(conversation_id)
            assert (state.status, state.pending, state.dead_letters, state.stopping) == ("idle", (), (), False)
            assert await reader.handled(conversation_id, ["1", "2"]) == {"1", "2"}
            rows = [event.payload for event in await reader.events(conversation_id)]
            assert sum(isinstance(row, TurnCompleted) for row in rows) == (0 if stopped else 1)
            assert await reader.open_turn(conversation_id) is None
    assert proxies[store].cuts >= 3
