"""A conversation is branched off after a reply; nothing runs, and both go on by themselves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from invented_agent import TalksOnly
from trials import both, settings

from seatrial import Conversation, reply, web_message, web_stop
from seatrial.history import HistoryItem
from seatrial.trial import Trial, TrialInvalid, open_trial


def texts(conversation: Conversation) -> list[str]:
    return [reply.text for reply in conversation.replies]


def test_a_fork_has_done_nothing_and_goes_on_from_its_reply() -> None:
    async def scenario(trial: Trial) -> Any:
        first = await trial.run(web_message("one"))
        second = await first.continue_(web_message("two"))
        asked = len(trial.requests)
        fork = await second.fork(first.replies[0])
        assert (fork.replies, fork.turns, fork.transcript, fork.steps, fork.number) == ((), (), (), (), 2)
        assert (len(trial.requests), len(trial.calls)) == (asked, 2)
        there = [reply.text for reply in await trial.replies(fork.conversation_id)]
        third = await fork.continue_(web_message("three"))
        fourth = await second.continue_(web_message("four"))
        return there, texts(third), texts(fourth), third.number, fourth.number

    seen, made = both(scenario)
    assert seen == (["You said: one"], ["You said: three"], ["You said: four"], 2, 1)
    assert [exchange.conversation for exchange in made.exchanges] == [1, 1, 2, 1]


def test_a_fork_branches_off_at_a_reply_that_was_loaded() -> None:
    async def scenario(trial: Trial) -> Any:
        earlier = reply("first")
        history: list[HistoryItem] = [web_message("a"), earlier, web_message("b"), reply("second")]
        conversation = await trial.run(web_message("c"), history=history)
        fork = await conversation.fork(earlier)
        equal = await conversation.fork(reply("second"))
        counts = [len(await trial.replies(each.conversation_id)) for each in (fork, equal, conversation)]
        return counts, texts(await fork.continue_(web_message("d")))

    assert both(scenario)[0] == ([1, 2, 3], ["You said: d"])


def test_of_two_replies_with_the_same_words_the_very_one_is_meant() -> None:
    async def scenario(trial: Trial) -> Any:
        one, two = reply("yes"), reply("yes")
        conversation = await trial.run(web_message("c"), history=[web_message("a"), one, web_message("b"), two])
        forks = [await conversation.fork(each) for each in (two, one)]
        return [len(await trial.replies(fork.conversation_id)) for fork in forks]

    assert both(scenario)[0] == [2, 1]


def test_history_is_appended_to_a_conversation_that_went_on() -> None:
    async def scenario(trial: Trial) -> Any:
        late = reply("meanwhile")
        first = await trial.run(web_message("one"), history=[web_message("a"), reply("before")])
        second = await first.continue_(web_message("two"), history=[web_message("b"), late])
        there = [reply.text for reply in await trial.replies(first.conversation_id)]
        fork = await second.fork(late)
        return texts(second), there, len(await trial.replies(fork.conversation_id))

    seen, _ = both(scenario)
    assert seen == (["You said: two"], ["before", "You said: one", "meanwhile", "You said: two"], 3)


def refused(scenario: Any, **options: Any) -> str:
    async def one(trial: Trial) -> Any:
        return texts(await trial.run(web_message("c")))

    _, made = both(one)

    async def run() -> None:
        async with open_trial(settings(recording=made, **options)) as trial:
            await scenario(trial)

    with pytest.raises(TrialInvalid) as caught:
        asyncio.run(run())
    return str(caught.value)


def test_a_reply_that_was_loaded_twice_or_never_names_no_place_to_fork() -> None:
    history: list[HistoryItem] = [web_message("a"), reply("yes"), web_message("b"), reply("yes")]

    async def twice(trial: Trial) -> None:
        await (await trial.run(web_message("c"), history=history)).fork(reply("yes"))

    async def never(trial: Trial) -> None:
        await (await trial.run(web_message("c"), history=history)).fork(reply("no"))

    assert refused(twice) == "the reply 'yes' was loaded 2 times"
    assert refused(never) == "the reply 'no' was not loaded into this conversation"


def test_an_agent_without_forks_or_stops_says_so() -> None:
    async def fork(trial: Trial) -> None:
        first = await trial.run(web_message("c"))
        await first.fork(first.replies[0])

    async def stop(trial: Trial) -> None:
        await (await trial.run(web_message("c"))).continue_(web_stop())

    assert "cannot fork" in refused(fork, binding=TalksOnly())
    assert "cannot be stopped" in refused(stop, binding=TalksOnly())


def test_a_stop_starts_no_conversation() -> None:
    assert "starts no conversation" in refused(lambda trial: trial.run(web_stop()))


def test_nothing_is_forked_while_a_call_runs() -> None:
    async def scenario(trial: Trial) -> Any:
        first = await trial.run(web_message("one"))
        running = asyncio.ensure_future(first.continue_(web_message("two")))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="do not overlap"):
            await first.fork(first.replies[0])
        return texts(await running)

    assert both(scenario)[0] == ["You said: two"]
