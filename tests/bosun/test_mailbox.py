"""The mailbox: durable, deduplicated, leased to one, and nothing leaves it before the log has it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from conftest import START, HandClock, KeptSteps

from bosun.log.messages import InboundMessage, interrupts
from bosun.mailbox.mailbox import Mailbox, first_run
from bosun.mailbox.state import Busy, Empty, Taken
from bosun.steps import Step

pytestmark = pytest.mark.asyncio


def message(key: str, actor: str = "morgan", source: str = "web") -> InboundMessage:
    """Return a message as a route makes it."""
    return InboundMessage(
        id=key, actor_id=actor, author=actor.title(), source=source, text=f"text {key}", received_at=START
    )


async def take(mailbox: Mailbox) -> Taken:
    """Take the conversation, which must be free and have work."""
    taken = await mailbox.take("web:c")
    assert isinstance(taken, Taken)
    return taken


async def test_a_message_is_accepted_once_and_keeps_its_place(mailbox: Mailbox, steps: KeptSteps) -> None:
    """The step is emitted where it is accepted, and only then."""
    assert await mailbox.append("web:c", message("1"))
    assert await mailbox.append("web:c", message("2"))
    assert not await mailbox.append("web:c", message("1"))
    state = await mailbox.state("web:c")
    assert (state.status, [each.id for each in state.pending]) == ("pending", ["1", "2"])
    assert steps.steps == [
        Step("message.accepted", "web:c", {"messageId": "1"}),
        Step("message.accepted", "web:c", {"messageId": "2"}),
    ]


async def test_many_that_send_the_same_message_at_once_send_it_once(mailbox: Mailbox) -> None:
    """Append and deduplication are one step of the store."""
    results = await asyncio.gather(*(mailbox.append("web:c", message("1")) for _ in range(20)))
    assert results.count(True) == 1
    assert len((await mailbox.state("web:c")).pending) == 1


async def test_a_message_that_was_consumed_is_still_a_duplicate(mailbox: Mailbox) -> None:
    """Seen ids outlive the messages."""
    await mailbox.append("web:c", message("1"))
    taken = await take(mailbox)
    await mailbox.consume(taken.lease, ["1"])
    await mailbox.release(taken.lease)
    assert not await mailbox.append("web:c", message("1"))
    assert await mailbox.state("web:c") == await mailbox.state("web:never-used")


async def test_a_batch_is_one_run_of_one_actor_and_source() -> None:
    """Arrival order is never changed."""
    messages = [message("1"), message("2"), message("3", actor="eve"), message("4")]
    assert [each.id for each in first_run(messages)] == ["1", "2"]
    assert [each.id for each in first_run([message("1"), message("2", source="slack")])] == ["1"]
    assert first_run([]) == ()


async def test_a_conversation_is_leased_to_one(mailbox: Mailbox, clock: HandClock) -> None:
    """For ninety seconds from the last check-in."""
    await mailbox.append("web:c", message("1"))
    taken = await take(mailbox)
    state = await mailbox.state("web:c")
    assert state.status == "running"
    assert state.lease is not None and state.lease.expires_at == START + timedelta(seconds=90)
    clock.advance(60)
    assert isinstance(await mailbox.take("web:c"), Busy)
    assert await mailbox.check_in(taken.lease)
    clock.advance(89)
    assert isinstance(await mailbox.take("web:c"), Busy)
    state = await mailbox.state("web:c")
    assert state.lease is not None and state.lease.checked_in_at == START + timedelta(seconds=60)


async def test_an_expired_lease_is_taken_over_and_its_holder_changes_nothing_more(
    mailbox: Mailbox, clock: HandClock
) -> None:
    """The token decides."""
    await mailbox.append("web:c", message("1"))
    lost = await take(mailbox)
    clock.advance(90)
    taken = await take(mailbox)
    assert [each.id for each in taken.batch] == ["1"]
    assert taken.lease.token != lost.lease.token
    assert not await mailbox.check_in(lost.lease)
    await mailbox.release(lost.lease, "failed")
    await mailbox.bury(lost.lease, ["1"])
    state = await mailbox.state("web:c")
    assert (state.status, state.retries, len(state.pending), state.dead_letters) == ("running", 1, 1, ())


async def test_work_that_crashes_three_times_is_exhausted_and_then_a_visible_dead_letter(
    mailbox: Mailbox, clock: HandClock
) -> None:
    """The app's option is three attempts."""
    await mailbox.append("web:c", message("1"))
    for _ in range(3):
        assert not (await take(mailbox)).exhausted
        clock.advance(90)
    taken = await take(mailbox)
    assert taken.exhausted
    await mailbox.bury(taken.lease, ["1"])
    assert await mailbox.release(taken.lease) == 0
    state = await mailbox.state("web:c")
    assert (state.status, state.retries, state.pending) == ("idle", 0, ())
    assert [each.text for each in state.dead_letters] == ["text 1"]


async def test_a_failed_attempt_counts_and_an_interrupted_one_does_not(mailbox: Mailbox) -> None:
    """A shutdown or an absent store is nobody's fault."""
    await mailbox.append("web:c", message("1"))
    await mailbox.release((await take(mailbox)).lease)
    assert (await mailbox.state("web:c")).retries == 0
    assert await mailbox.release((await take(mailbox)).lease, "failed") == 1
    assert (await mailbox.state("web:c")).retries == 1


async def test_success_forgets_the_failures_before_it(mailbox: Mailbox) -> None:
    """The next batch has all its attempts."""
    await mailbox.append("web:c", message("1"))
    await mailbox.append("web:c", message("2", actor="eve"))
    await mailbox.release((await take(mailbox)).lease, "failed")
    taken = await take(mailbox)
    await mailbox.consume(taken.lease, ["1"])
    assert await mailbox.release(taken.lease) == 1
    assert (await mailbox.state("web:c")).retries == 0
    assert [each.id for each in (await take(mailbox)).batch] == ["2"]


async def test_a_message_during_a_turn_waits(mailbox: Mailbox) -> None:
    """The status stays running; the release says that there is more."""
    await mailbox.append("web:c", message("1"))
    taken = await take(mailbox)
    await mailbox.append("web:c", message("2"))
    assert (await mailbox.state("web:c")).status == "running"
    await mailbox.consume(taken.lease, ["1"])
    assert await mailbox.release(taken.lease) == 1
    assert (await mailbox.state("web:c")).status == "pending"


async def test_what_the_log_has_is_consumed_without_a_lease(mailbox: Mailbox, clock: HandClock) -> None:
    """A worker that lost its lease after the commit need not leave its messages behind."""
    await mailbox.append("web:c", message("1"))
    lost = await take(mailbox)
    clock.advance(90)
    await take(mailbox)
    await mailbox.consume(lost.lease, ["1"])
    assert (await mailbox.state("web:c")).pending == ()


async def test_the_conversations_with_work_are_known(mailbox: Mailbox) -> None:
    """A start nudges them all."""
    assert isinstance(await mailbox.take("web:c"), Empty)
    await mailbox.append("web:d", message("1"))
    await mailbox.append("web:c", message("1"))
    assert await mailbox.with_work() == ("web:c", "web:d")
    taken = await take(mailbox)
    assert await mailbox.with_work() == ("web:c", "web:d")
    await mailbox.consume(taken.lease, ["1"])
    await mailbox.release(taken.lease)
    assert await mailbox.with_work() == ("web:d",)


async def test_an_interrupt_goes_first_and_keeps_the_others_in_their_order(mailbox: Mailbox) -> None:
    """Whoever sent it."""
    for each in (message("1"), message("2", actor="eve"), message("3", actor="eve")):
        await mailbox.append("web:c", each.model_copy(update={"interrupt": each.id == "3"}))
    taken = await take(mailbox)
    assert [each.id for each in taken.batch] == ["3"]
    await mailbox.consume(taken.lease, ["3"])
    await mailbox.release(taken.lease)
    assert [each.id for each in (await take(mailbox)).batch] == ["1"]


@pytest.mark.parametrize(
    ("text", "interrupt", "spoken"),
    [
        ("!! Not that.", True, "Not that."),
        (" !!Not that.", True, "Not that."),
        ("!!", False, "!!"),
        ("Hm!!", False, "Hm!!"),
    ],
)
async def test_the_mark_of_an_interrupt_needs_words_behind_it(text: str, interrupt: bool, spoken: str) -> None:
    """And is not among the words that the model reads."""
    assert interrupts(text) is interrupt
    said = message("1").model_copy(update={"text": text, "interrupt": interrupts(text)})
    assert (said.spoken, said.text) == (spoken, text)
