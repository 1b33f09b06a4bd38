"""The worker's rules about work that is done, busy, failing or interrupted. No model is asked: turns are counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from conftest import START, HandClock, KeptSteps
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.background import TaskGroupRunner
from bosun.limits import Limits
from bosun.log.events import VisibleMessage
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.overhearing import Overhearing
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.hearing import Hearing, ReplyPolicy
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import Delivery, Nudge, NudgeReason
from bosun.mailbox.running import StopBell
from bosun.mailbox.steering import Ended, LeaseLost, Paused, Steering, TurnRun
from bosun.mailbox.titling import TitleHandover
from bosun.mailbox.worker import TOO_MANY_AUTOMATED, Worker

pytestmark = pytest.mark.asyncio


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

        title = self.titles or title
        async with TaskGroupRunner() as background:
            worker = Worker(
                queue=bench.queue,
                mailbox=self.mailbox,
                log=self.log,
                reader=self.reader,
                titles=TitleHandover(self.reader, background, title, self.steps, self.redis),
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


@pytest.fixture
def room(
    engine: AsyncEngine,
    redis: Redis,
    clock: HandClock,
    log: ConversationLog,
    reader: ConversationReader,
    mailbox: Mailbox,
    steps: KeptSteps,
) -> Room:
    """The stores of one test."""
    return Room(log, reader, mailbox, steps, redis, Overhearing(engine, clock=clock))


async def test_a_batch_is_taken_turned_and_consumed(room: Room) -> None:
    """The nudge that comes too late finds nothing."""
    async with room.bench() as bench:
        await bench.append("1")
        await bench.append("2")
        await bench.nudge()
        await bench.nudge()
        assert bench.turns.batches == [["1", "2"]]
        assert (await room.mailbox.state("web:c")).status == "idle"
        assert bench.queue.sent == []
    assert room.steps.names == ["message.accepted", "message.accepted", "message.taken", "task.finished"]


async def test_what_is_left_is_nudged_again(room: Room) -> None:
    """Another actor's message is another turn."""
    async with room.bench() as bench:
        await bench.append("1")
        await bench.append("2", actor="eve")
        await bench.nudge()
        assert bench.turns.batches == [["1"]]
        assert bench.queue.sent == [(Nudge("web:c", "message"), 0.0)]
        await bench.nudge()
        assert bench.turns.batches == [["1"], ["2"]]


async def test_a_crash_between_commit_and_consumption_answers_nothing_twice(room: Room, clock: HandClock) -> None:
    """The log knows that the message is handled; the mailbox does not yet."""
    async with room.bench() as bench:
        await bench.append("1")
        taken = await room.mailbox.take("web:c")
        assert taken
        said = (await room.mailbox.state("web:c")).pending[0]
        await room.log.commit_no_reply(await room.log.start_turn("web:c", [said]))
        clock.advance(90)
        await bench.append("2")
        await bench.nudge()
        assert bench.turns.batches == [["2"]]
        assert (await room.mailbox.state("web:c")).pending == ()


async def test_a_busy_conversation_is_nudged_again_after_fifteen_seconds(room: Room) -> None:
    """Nobody waits for it in the meantime."""
    async with room.bench() as bench:
        await bench.append("1")
        await room.mailbox.take("web:c")
        await bench.nudge()
        assert bench.queue.sent == [(Nudge("web:c", "busy"), 15.0)]
        assert bench.turns.batches == []


async def test_work_that_fails_again_and_again_becomes_a_dead_letter_that_people_see(room: Room) -> None:
    """Three attempts are the option here."""
    async with room.bench() as bench:
        bench.turns.fault = RuntimeError("a fault of Bosun")
        await bench.append("1")
        for _ in range(4):
            await bench.nudge()
        assert bench.turns.batches == [["1"]] * 3
        assert bench.turns.given_up == [["1"]]
        assert bench.queue.sent == [(Nudge("web:c", "repair"), 15.0)] * 3
        state = await room.mailbox.state("web:c")
        assert (state.status, state.pending, [each.id for each in state.dead_letters]) == ("idle", (), ["1"])
    assert [event.payload.type for event in await room.reader.events("web:c")].count("turn_failed") == 1


async def test_an_absent_store_is_no_failed_attempt(room: Room) -> None:
    """The lease is given back, and the work stays."""
    async with room.bench() as bench:
        bench.turns.fault = ConnectionError("gone")
        await bench.append("1")
        bench.queue._waiting.put_nowait(Nudge("web:c", "message"))
        await bench.turns.started.wait()
    state = await room.mailbox.state("web:c")
    assert (state.status, state.retries, len(state.pending)) == ("pending", 0, 1)


async def test_a_shutdown_that_does_not_wait_leaves_the_work_pending_and_unleased(room: Room) -> None:
    """The next start takes it up at once."""
    async with room.bench(drain_seconds=0) as bench:
        bench.turns.endless = True
        await bench.append("1")
        bench.queue._waiting.put_nowait(Nudge("web:c", "message"))
        await bench.turns.started.wait()
    state = await room.mailbox.state("web:c")
    assert (state.status, state.lease, state.retries, len(state.pending)) == ("pending", None, 0, 1)
    async with room.bench() as bench:
        await bench.nudge()
        assert bench.queue.sent == [(Nudge("web:c", "repair"), 0.0)]
        assert bench.turns.batches == [["1"]]
    turns = [e for e in await room.reader.events("web:c") if e.payload.type == "turn_started"]
    assert len(turns) == 1


async def test_a_title_is_asked_for_once_and_not_after_loaded_history(room: Room) -> None:
    """Only the first message of a person in the conversation counts."""
    async with room.bench() as bench:
        await bench.append("1")
        await bench.nudge()
        await bench.append("2")
        await bench.nudge()
    assert bench.titled == [("web:c", "text 1")]


async def test_loaded_history_is_not_titled(room: Room) -> None:
    """Its first message is nobody's work."""
    async with room.bench() as bench:
        said = InboundMessage(id="0", actor_id="morgan", author="Morgan", text="Earlier", received_at=START)
        await room.log.accept_message("web:c", said)
        await room.log.commit_reply(await room.log.start_turn("web:c", [said]), "Noted.")
        await bench.append("1")
        await bench.nudge()
    assert bench.titled == []


async def test_a_paused_turn_is_resumed_by_its_own_nudge(room: Room) -> None:
    """A nudge for a message wakes nothing, and neither does one that comes twice after the end."""
    async with room.bench() as bench:
        bench.turns.pauses = 1
        await bench.append("1")
        await bench.nudge()
        assert bench.queue.sent == [(Nudge("web:c", "resume"), 0.0)]
        assert (await room.mailbox.state("web:c")).status == "paused"
        await bench.append("2", actor="eve")
        await bench.nudge()
        assert bench.turns.batches == [["1"]]
        await bench.nudge("resume")
        await bench.nudge("resume")
        await bench.nudge("resume")
        assert bench.turns.batches == [["1"], ["1"], ["2"]]
        assert (await room.mailbox.state("web:c")).status == "idle"


async def test_a_resumption_whose_nudge_was_lost_is_sent_by_the_next_start(room: Room) -> None:
    """The mailbox knows that the turn is paused."""
    async with room.bench() as bench:
        bench.turns.pauses = 1
        await bench.append("1")
        await bench.nudge()
    async with room.bench() as bench:
        assert bench.queue.sent == [(Nudge("web:c", "resume"), 0.0)]


async def test_a_stop_that_nobody_carried_out_is_carried_out_before_later_work(room: Room, clock: HandClock) -> None:
    """The message that came after it is answered."""
    async with room.bench() as bench:
        await bench.append("1")
        await room.mailbox.take("web:c")
        await room.mailbox.stop("web:c")
        await bench.append("2")
        clock.advance(90)
        await bench.nudge()
        assert (bench.turns.stopped, bench.turns.batches) == ([["1"]], [])
        assert bench.queue.sent == [(Nudge("web:c", "message"), 0.0)]
        await bench.nudge()
        assert (bench.turns.stopped, bench.turns.batches) == ([["1"]], [["2"]])
    assert await room.reader.handled("web:c", ["1", "2"]) == {"1", "2"}


async def test_a_stop_that_came_too_late_for_an_answer_is_over_with_it(room: Room, clock: HandClock) -> None:
    """The log has the message already: nothing is stopped, and nothing stays behind."""
    async with room.bench() as bench:
        await bench.append("1")
        said = (await room.mailbox.state("web:c")).pending[0]
        await room.mailbox.take("web:c")
        await room.log.commit_no_reply(await room.log.start_turn("web:c", [said]))
        await room.mailbox.stop("web:c")
        clock.advance(90)
        await bench.nudge()
        assert bench.turns.stopped == []
        state = await room.mailbox.state("web:c")
        assert (state.status, state.stopping, state.pending) == ("idle", False, ())


async def test_a_worker_that_lost_its_lease_says_so_and_leaves_the_work_to_its_new_holder(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    """No failed attempt, and no nudge."""
    async with room.bench() as bench:
        bench.turns.fault = LeaseLost("web:c")
        await bench.append("1")
        await bench.nudge()
        assert bench.queue.sent == []
        assert (await room.mailbox.state("web:c")).retries == 0
    assert "the lease of web:c was lost; its new holder goes on" in caplog.messages


async def test_too_many_automated_turns_in_a_row_get_one_notice_and_then_silence(room: Room) -> None:
    """Until a person writes. Two are the option here."""
    async with room.bench() as bench:
        for key in ("1", "2", "3", "4"):
            await bench.append(key, automated=True)
            await bench.nudge()
        assert bench.turns.batches == [["1"], ["2"]]
        rows = [event.payload for event in await room.reader.events("web:c")]
        notices = [row for row in rows if isinstance(row, VisibleMessage) and row.kind == "notice"]
        assert [notice.text for notice in notices] == [TOO_MANY_AUTOMATED]
        assert await room.reader.handled("web:c", ["3", "4"]) == {"3", "4"}
        await bench.append("5")
        await bench.nudge()
        await bench.append("6", automated=True)
        await bench.nudge()
        assert bench.turns.batches == [["1"], ["2"], ["5"], ["6"]]
