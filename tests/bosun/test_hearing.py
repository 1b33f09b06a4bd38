"""What the worker does with what was not said to Bosun, on real stores; and titles whose process was killed."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
import title_attempt
from conftest import START, HandClock, KeptSteps
from crashes import Crash, crash_at_commit
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from worker_bench import Bench, Room

from bosun.log.events import TokenUsage
from bosun.log.messages import HistoryMessage, InboundMessage
from bosun.log.overhearing import Overhearing, ReplyDecision
from bosun.log.projection import conversation_view
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.hearing import Hearing
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.titling import UNDER_WAY
from embedded_services import Valkey

pytestmark = pytest.mark.asyncio

YES = ReplyDecision(reply=True, by="rule", reason="it is for Bosun")
NO = ReplyDecision(reply=False, by="model", reason="it is not", usage=TokenUsage(input_tokens=2))
OUT = replace(NO, unsubscribe=True)


@dataclass
class Told:
    """A policy that decides as it is told, and counts."""

    decision: ReplyDecision = NO
    asked: list[tuple[list[str], list[str]]] = field(default_factory=list)

    async def decide(
        self, batch: Sequence[InboundMessage], recent: Sequence[HistoryMessage], *, conversation_id: str
    ) -> ReplyDecision:
        """Decide."""
        self.asked.append(([message.id for message in batch], [message.text for message in recent]))
        return self.decision


@pytest.fixture
def policy() -> Told:
    """The policy of the room."""
    return Told()


@pytest.fixture
def room(
    engine: AsyncEngine,
    redis: Redis,
    clock: HandClock,
    log: ConversationLog,
    reader: ConversationReader,
    mailbox: Mailbox,
    steps: KeptSteps,
    policy: Told,
) -> Room:
    """The stores of one test, with a policy."""
    return Room(log, reader, mailbox, steps, redis, Overhearing(engine, clock=clock), policy=policy)


def said(key: str, *, addressed: bool = False, actor: str = "eve") -> InboundMessage:
    """Return a message of a thread."""
    return InboundMessage(
        id=key,
        actor_id=actor,
        author=actor.title(),
        source="slack",
        text=f"text {key}",
        received_at=START,
        place=f"1700000000.{key:0>6}",
        addressed=addressed,
    )


async def hear(bench: Bench, *messages: InboundMessage) -> None:
    """Let messages come, and the worker look."""
    for message in messages:
        await bench.mailbox.append("web:c", message, subscribe=True)
    await bench.nudge()


async def test_what_is_overheard_has_no_turn_and_is_known_later(room: Room, policy: Told) -> None:
    """People see it, and so does the model of the next turn; it is done with, and said so once."""
    async with room.bench() as bench:
        await hear(bench, said("1"), said("2"))
        assert bench.turns.batches == []
        assert policy.asked == [(["1", "2"], [])]
        assert (await room.mailbox.state("web:c")).status == "idle"
        await hear(bench, said("3", addressed=True))
        assert bench.turns.batches == [["3"]]
    history = await room.reader.history("web:c")
    assert [(each.author, each.text) for each in history][:3] == [
        ("Eve", "text 1"),
        ("Eve", "text 2"),
        ("Eve", "text 3"),
    ]
    events = await room.reader.events("web:c")
    conversation = await room.reader.conversation("web:c")
    assert conversation is not None
    view = conversation_view(conversation, events)
    assert [(each["text"], each["turnId"] is None) for each in view["messages"]] == [
        ("text 1", True),
        ("text 2", True),
        ("text 3", False),
    ]
    assert [event.payload.type for event in events][:7] == [
        "message",
        "message",
        "reply_decided",
        "user_message",
        "user_message",
        "message_handled",
        "message_handled",
    ]


async def test_what_the_policy_answers_has_a_turn(room: Room, policy: Told) -> None:
    """After what was said before."""
    async with room.bench() as bench:
        await hear(bench, said("1"))
        policy.decision = YES
        await hear(bench, said("2"))
        assert bench.turns.batches == [["2"]]
    assert policy.asked == [(["1"], []), (["2"], ["text 1"])]


async def test_what_is_said_to_bosun_asks_no_policy(room: Room, policy: Told) -> None:
    """Nor does what was said beside it by the same person, or on the web."""
    async with room.bench() as bench:
        await hear(bench, said("1"), said("2", addressed=True))
        await bench.append("3")
        await bench.nudge()
        assert bench.turns.batches == [["1", "2"], ["3"]]
    assert policy.asked == []


async def test_a_message_that_goes_on_with_an_open_turn_asks_no_policy(room: Room, policy: Told) -> None:
    """It steers what runs."""
    async with room.bench() as bench:
        bench.turns.pauses = 1
        await hear(bench, said("1", addressed=True))
        await room.mailbox.append("web:c", said("2"))
        await bench.nudge("resume")
        assert bench.turns.batches == [["1"], ["1", "2"]]
    assert policy.asked == []


async def test_bosun_stays_out_when_it_is_told_to(room: Room, policy: Told) -> None:
    """The message that told it to is heard, and the last one."""
    policy.decision = OUT
    async with room.bench() as bench:
        await hear(bench, said("1"))
        assert bench.turns.batches == []
    assert not await room.mailbox.is_subscribed("web:c")


@pytest.mark.parametrize("decision", [YES, NO, OUT])
@pytest.mark.parametrize("after", [False, True])
async def test_a_decision_that_is_stored_is_not_asked_for_again(
    engine: AsyncEngine, room: Room, policy: Told, decision: ReplyDecision, after: bool
) -> None:
    """The process ends before its commit or after it; what is done a second time comes to the same."""
    policy.decision = decision
    hearing = Hearing(
        log=room.log, overhearing=room.overhearing, reader=room.reader, mailbox=room.mailbox, policy=policy
    )
    async with room.bench() as bench:
        await room.mailbox.append("web:c", said("1"), subscribe=True)
        with crash_at_commit(engine, 1, after), pytest.raises(Crash):
            await hearing.sift("web:c", [said("1")], exhausted=False)
        policy.decision = decision if not after else YES if decision is NO else NO
        await bench.nudge()
        assert bench.turns.batches == ([["1"]] if decision.reply else [])
    assert len(policy.asked) == (1 if after else 2)
    assert await room.mailbox.is_subscribed("web:c") == (not decision.unsubscribe)
    types = [event.payload.type for event in await room.reader.events("web:c")]
    assert (types.count("message"), types.count("reply_decided"), types.count("user_message")) == (1, 1, 1)


async def test_what_was_deleted_while_it_waited_behind_a_turn_has_none(room: Room, policy: Told) -> None:
    """A worker had seen it already, so that it was not withdrawn."""
    policy.decision = YES
    async with room.bench() as bench:
        await room.mailbox.append("web:c", said("1"), subscribe=True)
        await room.mailbox.append("web:c", said("2", addressed=True))
        taken = await room.mailbox.take("web:c")
        assert await room.mailbox.revise("web:c", "2", 0, None) == "shown"
        assert await room.overhearing.update("web:c", "2", revision=0, text=None, known=True)
        await room.mailbox.release(taken.lease)  # type: ignore[union-attr]
        await bench.nudge()
        assert bench.turns.batches == [["1"]]
        assert (await room.mailbox.state("web:c")).status == "idle"
    conversation = await room.reader.conversation("web:c")
    assert conversation is not None
    view = conversation_view(conversation, await room.reader.events("web:c"))
    assert sorted(each["text"] for each in view["messages"]) == ["(deleted)", "text 1"]


async def test_what_was_tried_too_often_is_overheard_and_kept_apart(room: Room, policy: Told) -> None:
    """A fault while Bosun makes up its mind is nobody's business."""
    async with room.bench() as bench:
        await room.mailbox.append("web:c", said("1"))
        for _ in range(3):
            taken = await room.mailbox.take("web:c")
            await room.mailbox.release(taken.lease, "failed")  # type: ignore[union-attr]
        await bench.nudge()
        assert (bench.turns.batches, bench.turns.given_up, policy.asked) == ([], [], [])
        assert (await room.mailbox.state("web:c")).status == "idle"
    assert [each.text for each in await room.reader.history("web:c")] == ["text 1"]


@pytest.mark.parametrize("written", ["written", "not written"])
async def test_a_title_whose_process_was_killed_is_written_by_the_next_one(
    room: Room, database_url: str, valkey: Valkey, redis: Redis, written: str
) -> None:
    """Killed while it is asked for, or when it is there and nobody knows: it is there once, and no mark stays."""
    async with room.bench() as bench:
        message = said("1", addressed=True)
        await room.log.accept_message("web:c", message)
        killed = await asyncio.create_subprocess_exec(
            *(sys.executable, title_attempt.__file__, database_url, valkey.url, "web:c", "1", written)
        )
        assert await killed.wait() == -signal.SIGKILL
        assert await redis.smembers(UNDER_WAY) == {"web:c"}
        assert bench.titled == []
    async with room.bench() as bench:
        pass
    assert bench.titled == [("web:c", "text 1")], "a title that is there may not have been shown everywhere"
    conversation = await room.reader.conversation("web:c")
    assert conversation is not None
    assert conversation.title == ("The first title" if written == "written" else "A title")
    assert await redis.smembers(UNDER_WAY) == set()


async def test_a_title_that_fails_is_not_tried_for_ever(room: Room, redis: Redis) -> None:
    """The conversation stays without one; one that was cancelled by a shutdown is tried at the next start."""

    async def refused(conversation_id: str, text: str) -> None:
        raise ValueError("an empty title")

    room.titles = refused
    async with room.bench() as bench:
        await bench.append("1")
        await bench.nudge()
    assert await redis.smembers(UNDER_WAY) == set()
