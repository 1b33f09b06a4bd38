"""The log under any order of its writers' calls: only appended to, gapless, each thing once; and so are its forks."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from typing import Any, TypeVar

from conftest import START, CountedIds, HandClock
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from bosun.log.events import (
    Event,
    GuardianActionReviewed,
    MessageHandled,
    Title,
    TurnCompleted,
    TurnContext,
    TurnFailed,
    TurnPaused,
    TurnStarted,
    VisibleMessage,
)
from bosun.log.forks import Forks
from bosun.log.messages import ConversationRecord, InboundMessage, ProposedCall, Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog, MessagesHandled, TurnTakenOver
from bosun.stores.postgres import create_engine

Result = TypeVar("Result")
NUMBERS = itertools.count()
KEYS = st.integers(0, 8)
NOT_COPIED = (TurnContext, TurnPaused, GuardianActionReviewed, Title)


def message(key: int) -> InboundMessage:
    """Return a message as a route makes it."""
    return InboundMessage(id=f"m{key}", actor_id="morgan", author="Morgan", text=f"text {key}", received_at=START)


class Conversation(RuleBasedStateMachine):
    """One conversation, and its writers: workers that live, and workers that lost their lease and do not know."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.engine = create_engine(self.url)
        self.log = ConversationLog(self.engine, clock=HandClock(), ids=CountedIds())
        self.forks = Forks(self.engine, clock=HandClock(), ids=CountedIds())
        self.reader = ConversationReader(self.engine)
        self.id = f"web:{next(NUMBERS)}"
        self.do(self.log.open_conversation(ConversationRecord(id=self.id, account_id="a", actor_id="morgan")))
        self.turns: list[Turn] = []
        self.rows: tuple[Event, ...] = ()
        self.ended: set[str] = set()
        self.handled: set[str] = set()

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await."""
        return self.runner.run(work)

    def teardown(self) -> None:
        """Close the connections and their loop."""
        self.do(self.engine.dispose())
        self.runner.close()

    def handle(self, which: int) -> Turn:
        """Return the handle of an attempt, the latest first."""
        return self.turns[-1 - which % len(self.turns)]

    @rule(key=KEYS)
    def accept(self, key: int) -> None:
        """A message becomes visible."""
        assert self.do(self.log.accept_message(self.id, message(key))) == (f"m{key}" not in self.visible())

    @rule(keys=st.lists(KEYS, min_size=1, max_size=2, unique=True))
    def start(self, keys: list[int]) -> None:
        """A worker begins, or takes up what is open."""
        fresh = {f"m{key}" for key in keys} - self.handled
        was_open = self.is_open()
        try:
            turn = self.do(self.log.start_turn(self.id, [message(key) for key in keys]))
        except MessagesHandled:
            assert not fresh and not was_open
            return
        assert fresh <= set(turn.message_ids)
        assert was_open == (turn.id in {each.id for each in self.turns})
        self.turns.append(turn)

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 2), key=KEYS)
    def join(self, which: int, key: int) -> None:
        """A message steers."""
        before = self.handle(which)
        if f"m{key}" in self.handled:
            return  # it would not be in the mailbox any more
        turn = self.do(self.log.join_turn(before, [message(key)]))
        assert (f"m{key}" in turn.message_ids) == (before.id not in self.ended or f"m{key}" in before.message_ids)
        self.turns[self.turns.index(before)] = turn

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 2), what=st.sampled_from(["calls", "unsent", "context", "pause"]))
    def go_on(self, which: int, what: str) -> None:
        """The turn gets on, by one answer or one slice."""
        turn = self.handle(which)
        if turn.id in self.ended:
            return
        number = len(self.do(self.reader.tool_progress(turn)).answers) + 1
        if what == "calls":
            (call,) = self.do(self.log.record_calls(turn, number, "", [ProposedCall(name="look", arguments="{}")]))
            self.do(
                self.log.record_review(
                    turn, call, effect="read", decision="allow", risk="low", reason="it only reads", by="rule"
                )
            )
            assert self.do(self.log.start_tool(turn, call, {}))
            assert self.do(self.log.finish_tool(turn, call, "succeeded", "Seen."))
        elif what == "unsent":
            self.do(self.log.record_unsent(turn, number, "Not sent."))
            self.do(self.log.record_unsent(turn, number, "Not sent, again."))
        elif what == "context":
            self.do(self.log.record_context(turn, number, ["account"], {}))
        else:
            slices = len(self.do(self.reader.pauses(turn)))
            assert [self.do(self.log.pause_turn(turn, slices + 1)) for _ in range(2)] == [True, False]

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 2), how=st.sampled_from(["reply", "silence", "failure"]))
    def end(self, which: int, how: str) -> None:
        """An attempt ends its turn, unless it ended, or has taken in what the attempt does not know."""
        turn = self.handle(which)
        try:
            if how == "reply":
                done = self.do(self.log.commit_reply(turn, "On Friday."))
            elif how == "silence":
                done = self.do(self.log.commit_no_reply(turn))
            else:
                done = self.do(self.log.commit_failure(turn, "timeout", "Too late."))
        except TurnTakenOver:
            assert turn.id not in self.ended
            others = [each for each in self.turns if each.id == turn.id and each is not turn]
            assert any(set(each.message_ids) - set(turn.message_ids) for each in others)
        else:
            assert done == (turn.id not in self.ended)

    @rule(keys=st.lists(KEYS, max_size=3, unique=True))
    def stop(self, keys: list[int]) -> None:
        """A person stops whatever there is."""
        was_open = self.is_open()
        assert (
            self.do(self.log.commit_stop(self.id, [message(key) for key in keys], "Stopped.")) is not None
        ) == was_open

    @rule(key=KEYS, told=st.booleans())
    def discard(self, key: int, told: bool) -> None:
        """A message that no person wrote is one too many. Nobody takes one that an open turn has."""
        if not self.is_open():
            self.do(self.log.discard(self.id, [message(key)], "Enough." if told else None))

    @rule()
    def title(self) -> None:
        """The title is written, once."""
        assert self.do(self.log.set_title(self.id, "Title")) == (
            not any(isinstance(e.payload, Title) for e in self.rows)
        )

    @rule(which=st.integers(0, 5))
    def fork(self, which: int) -> None:
        """A fork has what was over by then, under names of its own, and goes on by itself."""
        replies = [e for e in self.rows if isinstance(e.payload, VisibleMessage) and e.payload.role == "assistant"]
        if not replies:
            assert self.do(self.forks.fork(self.id, "none", "m1", "eve")) is None
            return
        reply = replies[which % len(replies)].payload
        assert isinstance(reply, VisibleMessage)
        key = f"fork {next(NUMBERS)}"
        made = self.do(self.forks.fork(self.id, key, reply.message_id, "eve"))
        again = self.do(self.forks.fork(self.id, key, "another", "eve"))
        assert made is not None and again is not None
        assert (made.conversation_id, again.new) == (again.conversation_id, False)
        copy = self.do(self.reader.events(made.conversation_id))
        assert [event.seq for event in copy] == list(range(1, len(copy) + 1))
        texts = [e.payload.text for e in copy if isinstance(e.payload, VisibleMessage)]
        assert texts == self.over_until(reply)
        assert not any(isinstance(event.payload, NOT_COPIED) for event in copy)
        names = {name for e in self.rows for name in _names(e)}
        assert not names & {name for e in copy for name in _names(e)}
        turn = self.do(self.log.start_turn(made.conversation_id, [message(0)]))
        assert turn.ordinal == 1 + sum(isinstance(e.payload, TurnStarted) for e in copy)
        assert self.do(self.log.commit_reply(turn, "Here."))

    @invariant()
    def only_appended_to(self) -> None:
        """What was there is there, and nothing is missing or twice."""
        rows = self.do(self.reader.events(self.id))
        assert rows[: len(self.rows)] == self.rows
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        self.rows = rows
        payloads = [row.payload for row in rows]
        ended = [each.turn_id for each in payloads if isinstance(each, TurnCompleted | TurnFailed)]
        handled = [each.message_id for each in payloads if isinstance(each, MessageHandled)]
        started = [each.turn_id for each in payloads if isinstance(each, TurnStarted)]
        seen = [each.message_id for each in payloads if isinstance(each, VisibleMessage)]
        for things in (ended, handled, started, seen):
            assert len(things) == len(set(things)), "each thing happens once"
        assert len(set(started) - set(ended)) <= 1, "one turn at a time"
        self.ended, self.handled = set(ended), set(handled)
        open_turn = self.do(self.reader.open_turn(self.id))
        assert (open_turn is not None) == self.is_open()
        if open_turn is not None:
            assert not set(open_turn.message_ids) & self.handled, "what is handled is in no open turn"

    def visible(self) -> set[str]:
        """Return the ids of what people see."""
        return {each.payload.message_id for each in self.rows if isinstance(each.payload, VisibleMessage)}

    def is_open(self) -> bool:
        """Tell whether a turn runs."""
        return any(turn.id not in self.ended for turn in self.turns)

    def over_until(self, reply: VisibleMessage) -> list[str]:
        """Return the texts that people saw until the reply's turn was over, without those that still waited."""
        last = max(e.seq for e in self.rows if e.payload == reply or getattr(e.payload, "turn_id", "") == reply.turn_id)
        if reply.turn_id is None:
            last = next(e.seq for e in self.rows if e.payload == reply)
        before = [event.payload for event in self.rows[:last]]
        over = {each.message_id for each in before if isinstance(each, MessageHandled)}
        shown = [each for each in before if isinstance(each, VisibleMessage)]
        return [each.text for each in shown if each.role == "assistant" or each.message_id in over]


def _names(event: Event) -> set[str]:
    found = (getattr(event.payload, name, None) for name in ("message_id", "turn_id", "call_id"))
    return {name for name in found if name is not None}


def test_a_log_is_only_appended_to_and_a_fork_is_a_copy(database_url: str) -> None:
    """By workers that come and go, and by persons who stop them."""

    class Machine(Conversation):
        url = database_url

    run_state_machine_as_test(Machine, settings=settings(max_examples=30, stateful_step_count=25, deadline=None))
