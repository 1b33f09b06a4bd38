"""Stops, pauses and deadlines of a turn that waits for its model. No model answers here."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_engine_bench import CONVERSATION, EngineBench

from bosun.limits import Limits
from bosun.log.events import TokenUsage
from bosun.log.messages import ProposedCall
from bosun.log.projection import conversation_view
from bosun.mailbox.state import Empty, StopTaken
from bosun.mailbox.steering import Ended, Paused
from bosun.turn.delivery import STOPPED
from bosun.turn.tool_calls import INTERRUPTED

pytestmark = pytest.mark.asyncio
SHORT = Limits(slice_budget_seconds=10, turn_timeout_seconds=25)


async def view(bench: EngineBench) -> dict[str, list[dict[str, object]]]:
    """Return the conversation as people see it."""
    conversation = await bench.reader.conversation(CONVERSATION)
    assert conversation is not None
    return conversation_view(conversation, await bench.reader.events(CONVERSATION))


@pytest.mark.parametrize("rung", [True, False])
async def test_a_stop_aborts_the_running_request_and_discards_what_waits(
    engine: AsyncEngine, redis: Redis, rung: bool
) -> None:
    """At once when it comes through the same process, and at the next look when it does not."""
    bench = EngineBench(engine, redis)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    running = await bench.run(taken)
    await bench.say("2", actor="eve")
    assert await bench.mailbox.stop(CONVERSATION) == 2
    assert (await bench.mailbox.state(CONVERSATION)).stopping
    await bench.say("3")
    if rung:
        bench.bell.ring(CONVERSATION)
    else:
        bench.timer.advance(2)
    run = await running
    assert isinstance(run, Ended) and set(run.message_ids) == {"1", "2"}
    assert (len(bench.model.asked), bench.model.aborted) == (1, 1)
    seen = await view(bench)
    assert [(m["text"], m["kind"], m["turnId"] is None) for m in seen["messages"]] == [
        ("text 1", "message", False),
        ("text 2", "message", True),
        (STOPPED, "notice", False),
    ]
    assert [turn["status"] for turn in seen["turns"]] == ["no_reply"]
    await bench.mailbox.consume(taken.lease, run.message_ids)
    await bench.mailbox.release(taken.lease)
    assert not (await bench.mailbox.state(CONVERSATION)).stopping
    assert [m.id for m in (await bench.take()).batch] == ["3"], "what came after the stop is work as ever"
    assert bench.steps.names[-3:] != ["turn.failed"] and "turn.completed" in bench.steps.names


async def test_a_stop_whose_worker_died_is_carried_out_and_swallows_nothing(engine: AsyncEngine, redis: Redis) -> None:
    """The next worker ends the turn; the message that came later has a turn of its own."""
    bench = EngineBench(engine, redis)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    await bench.log.record_calls(
        await bench.log.start_turn(CONVERSATION, taken.batch), 1, "", [ProposedCall(name="look", arguments="{}")]
    )
    await bench.mailbox.stop(CONVERSATION)
    await bench.say("2")
    bench.clock.advance(90)
    stop = await bench.mailbox.take(CONVERSATION)
    assert isinstance(stop, StopTaken) and [m.id for m in stop.messages] == ["1"]
    await bench.engine.stop(CONVERSATION, stop.messages)
    await bench.engine.stop(CONVERSATION, stop.messages)
    await bench.mailbox.consume(stop.lease, ["1"])
    assert await bench.mailbox.release(stop.lease) == 1
    (turn,) = (await view(bench))["turns"]
    assert (turn["status"], [m["text"] for m in (await view(bench))["messages"]]) == ("no_reply", ["text 1", STOPPED])
    assert [m.id for m in (await bench.take()).batch] == ["2"]


async def test_a_stop_with_nothing_running_only_discards(engine: AsyncEngine, redis: Redis) -> None:
    """No turn, no notice; and where nothing waits, nothing at all."""
    bench = EngineBench(engine, redis)
    await bench.open()
    assert await bench.mailbox.stop(CONVERSATION) == 0
    assert isinstance(await bench.mailbox.take(CONVERSATION), Empty)
    said = await bench.say("1")
    await bench.mailbox.stop(CONVERSATION)
    await bench.engine.stop(CONVERSATION, [said])
    assert await bench.types() == ["message", "message_handled"]
    assert await bench.reader.history(CONVERSATION) == ()


async def test_a_slice_that_is_over_pauses_and_the_next_goes_on_with_what_came(
    engine: AsyncEngine, redis: Redis
) -> None:
    """One turn; only its own resumption, an interrupt or a stop wakes it."""
    bench = EngineBench(engine, redis, SHORT)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    running = await bench.run(taken)
    bench.timer.advance(10)
    assert await running == Paused()
    await bench.mailbox.release(taken.lease, "paused")
    assert (await bench.mailbox.state(CONVERSATION)).status == "paused"
    await bench.say("2", actor="eve")
    await bench.say("3")
    assert isinstance(await bench.mailbox.take(CONVERSATION), Empty)
    taken = await bench.take("resume")
    running = await bench.run(taken)
    texts = [message.content for message in bench.model.asked[-1].messages[1:]]
    assert texts == ["text 1", "text 3"], "what steers a paused turn joins its first request"
    bench.timer.advance(10)
    assert await running == Paused()
    assert [(step.name, step.fields) for step in bench.steps.steps if step.name == "turn.paused"] == [
        ("turn.paused", {"slice": 1}),
        ("turn.paused", {"slice": 2}),
    ]
    await bench.mailbox.release(taken.lease, "paused")
    running = await bench.run(await bench.take("resume"))
    bench.timer.advance(5)
    assert isinstance(await running, Ended)
    (turn,) = (await view(bench))["turns"]
    assert (turn["status"], turn["error"], turn["pauses"]) == ("failed", "timeout", 2), "all slices share one deadline"


async def test_the_turns_deadline_counts_from_its_beginning_whoever_goes_on(engine: AsyncEngine, redis: Redis) -> None:
    """By the clock, so also over a crash: nothing is asked after it."""
    bench = EngineBench(engine, redis, SHORT)
    await bench.open()
    await bench.say("1")
    await bench.log.start_turn(CONVERSATION, (await bench.take()).batch)
    bench.clock.advance(90)
    taken = await bench.take()
    run = await bench.engine.run(CONVERSATION, taken.batch, bench.steering(taken))
    assert (run, bench.model.asked) == (Ended(("1",)), [])
    assert [turn["error"] for turn in (await view(bench))["turns"]] == ["timeout"]


async def test_a_turn_has_so_many_slices(engine: AsyncEngine, redis: Redis) -> None:
    """After the last it fails, and says what all of them took."""
    bench = EngineBench(engine, redis, Limits(slice_budget_seconds=10, slices_per_turn=2))
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    turn = await bench.log.start_turn(CONVERSATION, taken.batch)
    await bench.log.pause_turn(turn, 1, {"agent": TokenUsage(input_tokens=5)})
    running = await bench.run(taken)
    bench.timer.advance(10)
    assert isinstance(await running, Ended)
    (seen,) = (await view(bench))["turns"]
    assert (seen["status"], seen["error"]) == ("failed", "timeout")
    assert seen["usage"] == {"agent": {"inputTokens": 5, "outputTokens": 0, "cachedInputTokens": 0}}


async def test_a_call_that_a_pause_interrupts_may_have_had_its_effect(engine: AsyncEngine, redis: Redis) -> None:
    """The call that was not begun is left for the next slice, which makes it."""
    bench = EngineBench(engine, redis, SHORT)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    turn = await bench.log.start_turn(CONVERSATION, taken.batch)
    await bench.log.record_calls(turn, 1, "", [ProposedCall(name="wait", arguments="{}")] * 2)
    bench.gadgets.begun.clear()
    running = asyncio.create_task(bench.engine.run(CONVERSATION, taken.batch, bench.steering(taken)))
    await bench.gadgets.begun.wait()
    bench.timer.advance(10)
    assert await running == Paused()
    first, second = (await bench.reader.tool_progress(turn)).calls
    assert first.result is not None and (first.result.status, first.result.output) == ("timed_out", INTERRUPTED)
    assert (second.started, second.result) == (False, None)
    assert (await bench.types())[-2:] == ["tool_result", "turn_paused"]
