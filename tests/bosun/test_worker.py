"""The worker's rules about work that is done, busy, failing or interrupted. No model is asked: turns are counted."""

from __future__ import annotations

import pytest
from conftest import START, HandClock, KeptSteps
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from worker_bench import Room

from bosun.log.events import VisibleMessage
from bosun.log.messages import InboundMessage
from bosun.log.overhearing import Overhearing
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import Nudge
from bosun.mailbox.steering import LeaseLost
from bosun.mailbox.worker import TOO_MANY_AUTOMATED

pytestmark = pytest.mark.asyncio


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
