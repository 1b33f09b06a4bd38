"""Turns of Slack's through the engine: which way their words leave, and what comes after a delivery that was begun."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from slack_server import DIRECT, ROOT, Fault, SlackServer, slack_server
from slack_turn_bench import CONVERSATION, SlackBench, Undisturbed
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.log.events import DeliveryStarted
from bosun.log.messages import Turn
from bosun.log.store import TurnTakenOver
from bosun.mailbox.steering import Ended
from bosun.slack.delivery import STOPPED
from bosun.turn.lifecycle import Answered


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    """A Slack of its own."""
    with slack_server() as server:
        yield server


@pytest.fixture
def bench(engine: AsyncEngine, slack: SlackServer) -> Iterator[SlackBench]:
    """A thread in a channel, and a model with one answer."""
    bench = SlackBench(engine, slack, answers=["Yes."])
    yield bench
    bench.close()


async def begin_delivery(bench: SlackBench, turn: Turn, text: str = "Yes.") -> None:
    """Store what an attempt stores before it posts, and end it there."""
    started = DeliveryStarted(turn_id=turn.id, kind="answer", text=text, parts=[text], failure=None, usage={})
    assert await bench.log.start_delivery(started, turn)


@pytest.mark.asyncio
async def test_a_message_of_slacks_is_answered_on_slack(bench: SlackBench, slack: SlackServer) -> None:
    """Once, and the log has it too."""
    await bench.open_conversation()
    run = await bench.engine.run(CONVERSATION, [await bench.say("1")], Undisturbed())
    assert (run, slack.methods, slack.texts) == (Ended(("1",)), ["chat.postMessage"], ["Yes."])
    assert [text for _, text, _ in await bench.seen()] == ["Yes."]


@pytest.mark.parametrize("answer", ["Yes.", "[[NO_REPLY]]"])
@pytest.mark.parametrize("channel", [CONVERSATION, f"slack:{DIRECT}:{ROOT}"])
@pytest.mark.asyncio
async def test_a_web_message_in_a_thread_asks_nothing_of_slack(
    engine: AsyncEngine, slack: SlackServer, answer: str, channel: str
) -> None:
    """Its reply, its silence, its failure and its stop are on the web."""
    bench = SlackBench(engine, slack, conversation_id=channel, answers=[answer])
    try:
        await bench.open_conversation()
        await bench.engine.run(bench.id, [await bench.say("1", "web")], Undisturbed())
        await bench.engine.run(bench.id, [await bench.say("2", "web")], Undisturbed())
        await bench.log.start_turn(bench.id, [await bench.say("3", "web")])
        await bench.engine.stop(bench.id, [bench.message("3", "web"), bench.message("4", "web")])
        assert slack.calls == []
        ends = [("no_reply" if "[" in answer else "succeeded", None), ("failed", "unknown"), ("no_reply", None)]
        assert await bench.ends() == ends
    finally:
        bench.close()


@pytest.mark.asyncio
async def test_an_accepted_answer_is_completed_after_the_turns_deadline(bench: SlackBench, slack: SlackServer) -> None:
    """The model is not asked again, whatever time it is."""
    turn = await bench.open()
    await begin_delivery(bench, turn)
    bench.clock.advance(100_000)
    run = await bench.engine.run(CONVERSATION, [await bench.say("1")], Undisturbed())
    assert (run, bench.model.asked, slack.texts) == (Ended(("1",)), 0, ["Yes."])
    assert await bench.ends() == [("succeeded", None)]


@pytest.mark.asyncio
async def test_what_crashed_too_often_is_delivered_where_an_answer_was_accepted(
    bench: SlackBench, slack: SlackServer
) -> None:
    """Otherwise people read that it failed."""
    turn = await bench.open()
    await begin_delivery(bench, turn)
    assert await bench.engine.give_up(CONVERSATION, [await bench.say("1")]) == ("1",)
    assert await bench.engine.give_up(CONVERSATION, [await bench.say("2")]) == ("2",)
    assert slack.texts == ["Yes.", "I could not answer because of an unexpected error. Please try again."]
    assert await bench.ends() == [("succeeded", None), ("failed", "unknown")]


@pytest.mark.asyncio
async def test_a_stop_comes_too_late_for_an_answer_that_is_being_delivered(
    bench: SlackBench, slack: SlackServer
) -> None:
    """The answer stands; what waits is discarded, and people read that Bosun stopped."""
    turn = await bench.open()
    await begin_delivery(bench, turn)
    await bench.engine.stop(CONVERSATION, [bench.message("1"), bench.message("2")])
    assert slack.texts == ["Yes.", STOPPED]
    assert await bench.ends() == [("succeeded", None)]
    assert await bench.reader.handled(CONVERSATION, ["1", "2"]) == {"1", "2"}


@pytest.mark.asyncio
async def test_a_stop_from_the_thread_is_told_there_whatever_runs(bench: SlackBench, slack: SlackServer) -> None:
    """A turn of a message on the web ends too, and a second attempt says nothing twice."""
    await bench.open_conversation()
    await bench.log.start_turn(CONVERSATION, [await bench.say("1", "web")])
    for _ in range(2):
        await bench.engine.stop(CONVERSATION, [bench.message("1", "web"), bench.message("2")])
    assert slack.texts == [STOPPED]
    assert [text for _, text, _ in await bench.seen()][:1] == [STOPPED]
    assert await bench.ends() == [("no_reply", None)]
    assert await bench.reader.handled(CONVERSATION, ["1", "2"]) == {"1", "2"}


@pytest.mark.asyncio
async def test_a_stop_is_told_once_however_often_it_is_begun(bench: SlackBench, slack: SlackServer) -> None:
    """Its notice is delivered as an answer is: also what was not discarded by then is."""
    turn = await bench.open()
    notice = DeliveryStarted(turn_id=turn.id, kind="notice", text=STOPPED, parts=[STOPPED], failure=None, usage={})
    assert await bench.log.start_delivery(notice, turn)
    await bench.engine.stop(CONVERSATION, [bench.message("1"), bench.message("2")])
    assert slack.texts == [STOPPED]
    assert await bench.ends() == [("no_reply", None)]
    assert await bench.reader.handled(CONVERSATION, ["1", "2"]) == {"1", "2"}


@pytest.mark.asyncio
async def test_a_message_that_comes_while_an_answer_is_delivered_has_a_turn_of_its_own(
    bench: SlackBench, slack: SlackServer
) -> None:
    """It would be marked as answered by words that were written before it."""
    turn = await bench.open()
    await begin_delivery(bench, turn, "To the first.")
    late = await bench.say("2")
    assert (await bench.log.join_turn(turn, [late])).message_ids == ("1",)
    first = await bench.engine.run(CONVERSATION, [await bench.say("1"), late], Undisturbed())
    second = await bench.engine.run(CONVERSATION, [late], Undisturbed())
    assert (first, second) == (Ended(("1",)), Ended(("2",)))
    assert slack.texts == ["To the first.", "Yes."]


@pytest.mark.asyncio
async def test_one_attempt_delivers(bench: SlackBench, slack: SlackServer) -> None:
    """A second one, or one that has not seen all of the turn's messages, is another's; an ended turn has none."""
    turn = await bench.open()
    joined = await bench.log.join_turn(turn, [bench.message("2")])
    for unseen in (turn, joined):
        with pytest.raises(TurnTakenOver):
            if unseen is joined:
                await begin_delivery(bench, joined)
            await bench.delivery.end(unseen, Answered("No."), {})
    assert slack.calls == []
    await bench.delivery.resume(joined)
    await bench.delivery.end(joined, Answered("No."), {})
    assert slack.texts == ["Yes."]


@pytest.mark.asyncio
async def test_two_apps_have_each_their_own_slack(engine: AsyncEngine, slack: SlackServer) -> None:
    """The later one's options change nothing for the earlier one."""
    with slack_server() as other:
        benches = [
            SlackBench(engine, each, conversation_id=f"slack:C{i}:{ROOT}") for i, each in enumerate((slack, other))
        ]
        other.fail("chat.postMessage", Fault("is_archived"))
        for each in benches:
            await each.delivery.end(await each.open(), Answered(f"In {each.id}."), {})
            each.close()
        assert (slack.texts, other.texts) == ([f"In slack:C0:{ROOT}."], [])
        assert [await each.ends() for each in benches] == [[("succeeded", None)], [("failed", "permission")]]
