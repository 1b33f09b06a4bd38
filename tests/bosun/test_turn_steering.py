"""What a running turn takes in, and when: nothing is lost and nothing is taken in twice. No model answers here."""

from __future__ import annotations

import pytest
from crashes import Crash, crash_at_commit
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_engine_bench import CONVERSATION, EngineBench

from bosun.log.store import TurnTakenOver
from bosun.mailbox.steering import LeaseLost
from bosun.turn.thinking import Slice

pytestmark = pytest.mark.asyncio


async def spoken(bench: EngineBench) -> list[str]:
    """Return what the model reads of people's words."""
    return [said.text for said in await bench.reader.history(CONVERSATION) if said.role == "user"]


async def test_the_same_actor_joins_at_the_next_request_and_another_one_waits(
    engine: AsyncEngine, redis: Redis
) -> None:
    """Who waits keeps his place for a turn of his own."""
    bench = EngineBench(engine, redis)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    work = Slice(await bench.log.start_turn(CONVERSATION, taken.batch), taken.batch)
    await bench.say("2", actor="eve")
    await bench.say("3")
    bench.steps.steps.clear()
    await bench.thinking.take_in(work, bench.steering(taken))
    assert (work.turn.message_ids, [m.id for m in work.asked]) == (("1", "3"), ["3"])
    assert await spoken(bench) == ["text 1", "text 3"]
    assert [m.id for m in (await bench.mailbox.state(CONVERSATION)).pending] == ["1", "2"]
    assert [(step.name, step.fields) for step in bench.steps.steps] == [("message.taken", {"messageIds": ["3"]})]
    await bench.thinking.take_in(work, bench.steering(taken))
    assert await spoken(bench) == ["text 1", "text 3"]


async def test_what_waited_before_the_turn_began_is_not_steering(engine: AsyncEngine, redis: Redis) -> None:
    """Arrival order counts between turns: the message behind another actor's stays behind it."""
    bench = EngineBench(engine, redis)
    await bench.open()
    for key, actor in (("1", "morgan"), ("2", "eve"), ("3", "morgan")):
        await bench.say(key, actor=actor)
    taken = await bench.take()
    turn = await bench.log.start_turn(CONVERSATION, taken.batch)
    assert (await bench.steering(taken).read(turn)).messages == ()
    await bench.say("4")
    assert [m.id for m in (await bench.steering(taken).read(turn)).messages] == ["4"]


async def test_another_actor_joins_with_the_mark_or_by_the_apps_option(engine: AsyncEngine, redis: Redis) -> None:
    """The mark is for Bosun: people see it, the model does not."""
    bench = EngineBench(engine, redis)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    work = Slice(await bench.log.start_turn(CONVERSATION, taken.batch), taken.batch)
    await bench.say("2", actor="eve")
    await bench.say("3", "!! Not that one.", actor="eve")
    by_option = await bench.steering(taken, "steer").read(work.turn)
    assert [m.id for m in by_option.messages] == ["2", "3"]
    await bench.thinking.take_in(work, bench.steering(taken))
    assert await spoken(bench) == ["text 1", "Not that one."]
    shown = [getattr(event.payload, "text", None) for event in await bench.reader.events(CONVERSATION)]
    assert "!! Not that one." in shown
    assert (work.turn.actor_id, work.turn.author) == ("morgan", "Morgan")


@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_between_the_rows_and_the_mailbox_loses_and_doubles_nothing(
    engine: AsyncEngine, redis: Redis, after: bool
) -> None:
    """Before the commit the message waits; after it, the turn has it, and its end says so."""
    bench = EngineBench(engine, redis)
    await bench.open()
    await bench.say("1")
    taken = await bench.take()
    work = Slice(await bench.log.start_turn(CONVERSATION, taken.batch), taken.batch)
    await bench.say("2")
    with crash_at_commit(engine, 1, after), pytest.raises(Crash):
        await bench.thinking.take_in(work, bench.steering(taken))
    assert [m.id for m in (await bench.mailbox.state(CONVERSATION)).pending] == ["1", "2"]
    bench.clock.advance(90)
    taken = await bench.take()
    work = Slice(await bench.log.start_turn(CONVERSATION, taken.batch), taken.batch)
    await bench.thinking.take_in(work, bench.steering(taken))
    assert await spoken(bench) == ["text 1", "text 2"]
    await bench.log.commit_no_reply(work.turn)
    assert await bench.reader.handled(CONVERSATION, ["1", "2"]) == {"1", "2"}
    assert (await bench.types()).count("message_handled") == 2


async def test_an_answer_that_was_overtaken_is_the_models_alone(engine: AsyncEngine, redis: Redis) -> None:
    """It stands before the words that overtook it, counts as a request, and is kept once."""
    bench = EngineBench(engine, redis)
    await bench.open()
    first = await bench.say("1")
    turn = await bench.log.start_turn(CONVERSATION, [first])
    for words in ("On Friday.", "On Monday."):
        await bench.log.record_unsent(turn, 1, words)
    turn = await bench.log.join_turn(turn, [await bench.say("2")])
    assert [(m.role, m.text) for m in await bench.reader.history(CONVERSATION)] == [
        ("user", "text 1"),
        ("assistant", "On Friday."),
        ("user", "text 2"),
    ]
    assert len((await bench.reader.tool_progress(turn)).answers) == 1
    assert await bench.log.commit_reply(turn, "On Friday, for both.")
    shown = [event.payload for event in await bench.reader.events(CONVERSATION) if event.payload.type == "message"]
    assert [getattr(each, "text", "") for each in shown] == ["text 2", "On Friday, for both."]


async def test_a_worker_that_lost_its_lease_is_told_so(engine: AsyncEngine, redis: Redis) -> None:
    """At its next look, and when it would end a turn of which it has not seen everything."""
    bench = EngineBench(engine, redis)
    await bench.open()
    await bench.say("1")
    lost = await bench.take()
    stale = Slice(await bench.log.start_turn(CONVERSATION, lost.batch), lost.batch)
    bench.clock.advance(90)
    taken = await bench.take()
    with pytest.raises(LeaseLost):
        await bench.thinking.take_in(stale, bench.steering(lost))
    await bench.say("2")
    work = Slice(await bench.log.start_turn(CONVERSATION, taken.batch), taken.batch)
    await bench.thinking.take_in(work, bench.steering(taken))
    with pytest.raises(TurnTakenOver):
        await bench.log.commit_reply(stale.turn, "Too early.")
    assert await bench.log.commit_reply(work.turn, "Both.")
    late = await bench.say("3")
    assert "3" not in (await bench.log.join_turn(work.turn, [late])).message_ids
