"""The mailbox in Redis does what the plain account of it says, whatever happens in whatever order."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from conftest import START, CountedIds, HandClock, KeptSteps
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from mailbox_model import PlainMailbox
from redis.asyncio import Redis

from bosun.log.messages import InboundMessage
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.state import Busy, Empty, Lease, StopTaken, Taken
from bosun.mailbox.steering import LeaseLost
from bosun.stores.redis import connect
from embedded_services import Valkey

Result = TypeVar("Result")
CONVERSATION = "web:c"
OUTCOMES = st.sampled_from(["done", "failed", "paused"])
IDS = st.lists(st.integers(0, 30), max_size=3, unique=True)


async def empty(redis: Redis) -> None:
    """Begin with nothing."""
    await redis.flushall()


def said(key: int, actor: str, source: str, *, interrupt: bool = False) -> InboundMessage:
    """Return a message."""
    return InboundMessage(
        id=str(key),
        actor_id=actor,
        author=actor,
        source=source,
        text="!! now",
        received_at=START,
        interrupt=interrupt,
    )


class Mailboxes(RuleBasedStateMachine):
    """Both mailboxes, told the same things."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = HandClock()
        self.redis = connect(self.url)
        self.do(empty(self.redis))
        self.real = Mailbox(self.redis, clock=self.clock, ids=CountedIds(), steps=KeptSteps(), attempts=3)
        self.plain = PlainMailbox(self.clock.now().timestamp())
        self.leases: list[Lease] = []

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await."""
        return self.runner.run(work)

    def teardown(self) -> None:
        """Close the connection and its loop."""
        self.do(self.redis.aclose())
        self.runner.close()

    def held(self, which: int) -> Lease:
        """Return one of the leases that there ever were, the latest first."""
        return self.leases[-1 - which % len(self.leases)]

    @rule(
        key=st.integers(0, 30),
        actor=st.sampled_from("ab"),
        source=st.sampled_from(["web", "web", "slack"]),
        flag=st.integers(0, 2),
        calls=st.booleans(),
    )
    def append(self, key: int, actor: str, source: str, flag: int, calls: bool) -> None:
        """Somebody writes, or writes the same again; some messages call Bosun to the conversation."""
        message = said(key, actor, source, interrupt=flag == 0)
        appended = self.do(self.real.append(CONVERSATION, message, subscribe=calls))
        assert appended == self.plain.append(message, calls)

    @rule(key=st.integers(0, 30), revision=st.integers(1, 4), text=st.sampled_from(["other words", "others", None]))
    def revise(self, key: int, revision: int, text: str | None) -> None:
        """Somebody changes a message or takes it back: late, twice, or one that is not there."""
        found = self.do(self.real.revise(CONVERSATION, str(key), revision, text))
        assert found == self.plain.revise(str(key), revision, text)

    @rule(reason=st.sampled_from(["message", "message", "resume", "repair"]))
    def take(self, reason: Any) -> None:
        """A worker is nudged: again, late, or for no reason."""
        taken = self.do(self.real.take(CONVERSATION, reason))
        token = taken.lease.token if isinstance(taken, Taken | StopTaken) else ""
        kind, ids, exhausted = self.plain.take(token, reason == "resume")
        if isinstance(taken, Taken | StopTaken):
            messages = taken.batch if isinstance(taken, Taken) else taken.messages
            seen = ("work" if isinstance(taken, Taken) else "stopped", [m.id for m in messages], taken.exhausted)
            assert seen == (kind, ids, exhausted)
            self.leases.append(taken.lease)
        else:
            assert type(taken) is {"busy": Busy, "empty": Empty}[kind]

    @rule(outcome=OUTCOMES, first=st.booleans())
    def attempt(self, outcome: Any, first: bool) -> None:
        """A worker takes what there is, does some of it, and is through."""
        before = len(self.leases)
        self.take("resume" if first else "message")
        if len(self.leases) > before:
            if first:
                self.consume(0, [int(each.message.id) for each in self.plain.waiting[:1]], ended=outcome == "done")
            self.release(0, outcome)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 2))
    def check_in(self, which: int) -> None:
        """A worker says that it lives; perhaps it has lost its lease."""
        lease = self.held(which)
        assert self.do(self.real.check_in(lease)) == self.plain.check_in(lease.token)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 2))
    def read(self, which: int) -> None:
        """A running turn looks what came."""
        lease = self.held(which)
        expected = self.plain.read(lease.token)
        try:
            stopped, pending = self.do(self.real.read(lease))
        except LeaseLost:
            assert expected is None
        else:
            assert (stopped, [(new, message.id) for new, message in pending]) == expected

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 2), keys=IDS, ended=st.booleans())
    def consume(self, which: int, keys: list[int], ended: bool) -> None:
        """The log has some messages."""
        lease, ids = self.held(which), self.alive(keys)
        self.do(self.real.consume(lease, ids, ended=ended))
        self.plain.consume(lease.token, ids, ended)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 2), keys=IDS)
    def bury(self, which: int, keys: list[int]) -> None:
        """Some messages were tried too often."""
        lease, ids = self.held(which), self.alive(keys)
        self.do(self.real.bury(lease, ids))
        self.plain.bury(lease.token, ids)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 2), outcome=OUTCOMES)
    def release(self, which: int, outcome: Any) -> None:
        """A worker is through with its attempt."""
        lease = self.held(which)
        assert self.do(self.real.release(lease, outcome)) == self.plain.release(lease.token, outcome)

    @rule()
    def stop(self) -> None:
        """A person has had enough."""
        assert self.do(self.real.stop(CONVERSATION)) == self.plain.stop()

    @rule(key=st.integers(0, 30), actor=st.sampled_from("ab"))
    def stop_by(self, key: int, actor: str) -> None:
        """A person says so, and the word may come again."""
        message = said(key, actor, "slack")
        assert self.do(self.real.stop(CONVERSATION, message)) == self.plain.stop(message)

    @rule()
    def unsubscribe(self) -> None:
        """It was decided that Bosun is to stay out."""
        self.do(self.real.unsubscribe(CONVERSATION))
        self.plain.subscribed = False

    @rule(seconds=st.sampled_from([1.0, 15.0, 89.0, 90.0]))
    def pass_time(self, seconds: float) -> None:
        """Time passes: leases run out."""
        self.clock.at += timedelta(seconds=seconds)
        self.plain.now += seconds

    @invariant()
    def agree(self) -> None:
        """What anybody may see is the same."""
        state = self.do(self.real.state(CONVERSATION))
        plain = self.plain
        assert state.pending == tuple(each.message for each in (*plain.discarded, *plain.waiting))
        assert state.dead_letters == tuple(each.message for each in plain.dead)
        assert self.do(self.real.is_subscribed(CONVERSATION)) == plain.subscribed
        assert (state.status, state.retries, state.stopping) == (plain.status, plain.failures, bool(plain.discarded))
        assert (state.lease is None) == (plain.lease is None)
        if state.lease is not None and plain.lease is not None:
            assert state.lease.expires_at.timestamp() == plain.lease.until
        assert self.do(self.real.stopped(CONVERSATION)) == tuple(each.message for each in plain.discarded)
        if plain.status != "idle":
            assert self.do(self.real.with_work()) == (CONVERSATION,), "a start finds all that is not done"

    def alive(self, keys: list[int]) -> list[str]:
        """Return those of the ids that no dead letter has: a worker never consumes one of those."""
        buried = {each.message.id for each in self.plain.dead}
        return [str(key) for key in keys if str(key) not in buried]


def test_a_mailbox_is_what_its_plain_account_says(valkey: Valkey) -> None:
    """Appends, duplicates, takes, expiries, stops, pauses and what workers that lost their lease still do."""

    class Machine(Mailboxes):
        url = valkey.url

    run_state_machine_as_test(Machine, settings=settings(max_examples=80, stateful_step_count=40, deadline=None))
