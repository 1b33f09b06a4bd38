"""A trial has Slack around the agent: people write there, the agent answers there, and a test sees both."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from echo_model import echo_model
from invented_agent import InventedBinding
from invented_slack import RefusesItsOwn, SlackBinding
from trials import Scenario, both, settings

from seatrial.binding import Composition
from seatrial.conversation import Conversation
from seatrial.gateway.upstream import Upstream
from seatrial.history import HistoryItem, reply
from seatrial.inputs import (
    slack_bot_message,
    slack_deletion,
    slack_direct_message,
    slack_edit,
    slack_file,
    slack_mention,
    slack_thread_message,
    web_message,
)
from seatrial.progress import Actions, Progress, ReplyDelivered
from seatrial.trial import Trial, TrialBroken, TrialInvalid, open_trial


def on_slack(scenario: Scenario, binding: InventedBinding | None = None, **options: Any) -> Any:
    """Record and replay with an agent that is on Slack; return what the scenario saw."""
    return both(scenario, binding=binding or SlackBinding(), composition=Composition(slack=True), **options)[0]


def posts(conversation: Conversation) -> list[str]:
    """Return the texts that the agent posted in the conversation's thread."""
    return [
        str(call.args["text"])
        for call in conversation.slack
        if call.method == "chat.postMessage" and call.here and call.error is None
    ]


def texts(conversation: Conversation) -> list[str]:
    return [reply.text for reply in conversation.replies]


def test_a_mention_is_answered_in_its_thread_and_the_thread_goes_on() -> None:
    binding = SlackBinding()

    async def scenario(trial: Trial) -> Any:
        first = await trial.run(slack_mention("one"))
        again = await first.continue_(slack_mention("two", author="riley"))
        assert first.conversation_id == again.conversation_id
        return posts(first), posts(again), first.statuses, [said.author for said in again.transcript]

    seen = on_slack(scenario, binding)
    assert seen == (["You said: one"], ["You said: two"], ("is thinking…",), ["riley", "agent"])
    # Slack tells the agent of its own messages, as it tells it of all others.
    assert [agent.own for agent in binding.agents] == [2, 2]
    assert [sorted(agent.people.values()) for agent in binding.agents] == [["morgan", "riley"]] * 2


def test_two_conversations_are_two_threads_and_see_their_own_calls() -> None:
    async def scenario(trial: Trial) -> Any:
        first = await trial.run(slack_mention("one"))
        second = await trial.run(slack_direct_message("react eyes"))
        return posts(first), posts(second), first.reactions, second.reactions, second.number

    assert on_slack(scenario) == (["You said: one"], ["You said: react eyes"], (), ("eyes",), 2)


def test_a_message_in_a_thread_that_is_for_somebody_else_changes_nothing() -> None:
    async def scenario(trial: Trial) -> Any:
        first = await trial.run(slack_mention("one"))
        other = await first.continue_(slack_thread_message("@riley and you?"))
        return texts(other), other.slack

    assert on_slack(scenario) == ([], ())


def test_a_message_that_slack_sends_twice_is_one() -> None:
    async def scenario(trial: Trial) -> Any:
        return posts(await trial.run(slack_mention("one", deliveries=3)))

    assert on_slack(scenario) == ["You said: one"]


def test_an_edit_and_a_deletion_before_the_turn_are_what_the_agent_sees() -> None:
    async def scenario(trial: Trial) -> Any:
        edited = await trial.run([slack_mention("one"), slack_edit("two")])
        deleted = await edited.continue_([slack_mention("three"), slack_mention("four"), slack_deletion()])
        return posts(edited), posts(deleted)

    assert on_slack(scenario) == (["You said: two"], ["You said: three"])


def test_another_bot_is_heard_as_one() -> None:
    binding = SlackBinding()

    async def scenario(trial: Trial) -> Any:
        first = await trial.run(slack_mention("one"))
        return posts(await first.continue_(slack_bot_message("@agent the build is red")))

    assert on_slack(scenario, binding) == []
    assert [agent.own for agent in binding.agents] == [2, 2]  # its own message, and that of the other bot


def test_files_and_a_thread_that_a_person_opens_reach_the_agent() -> None:
    async def scenario(trial: Trial) -> Any:
        with_file = await trial.run(slack_mention("see this", channel="private", files=[slack_file("plan.txt")]))
        opened = await trial.run(slack_direct_message("hi", assistant_thread=True))
        later = await opened.continue_(slack_direct_message("and on"))
        return posts(with_file), posts(opened), posts(later)

    assert on_slack(scenario) == (["You said: see this"], ["You said: hi"], ["You said: and on"])


def test_history_stands_in_the_thread_and_is_no_part_of_a_result() -> None:
    async def scenario(trial: Trial) -> Any:
        history: list[HistoryItem] = [
            slack_mention("before"),
            slack_thread_message("more", author="riley"),
            reply("Then."),
        ]
        went_on = await trial.run(slack_mention("now"), history=history)
        later = await went_on.continue_(slack_mention("and"), history=[slack_thread_message("while"), reply("Meant.")])
        whole = await trial.replies(went_on.conversation_id)
        return texts(went_on), texts(later), [one.text for one in whole]

    first, second, whole = on_slack(scenario)
    assert (first, second) == (["You said: now"], ["You said: and"])
    assert whole == ["Then.", "You said: now", "Meant.", "You said: and"]


def test_a_handler_sees_a_reply_that_stands_and_that_the_agent_has_no_answer_for() -> None:
    async def scenario(trial: Trial) -> Any:
        seen: list[Any] = []

        async def handler(progress: Progress, actions: Actions) -> None:
            if isinstance(progress, ReplyDelivered):
                seen.append((progress.text, progress.nth))
                if progress.nth == 1:
                    await actions.send(slack_mention("two"))

        conversation = await trial.run(slack_mention("one"), on_progress=handler)
        return seen, texts(conversation)

    seen, said = on_slack(scenario)
    assert seen == [("You said: one", 1), ("You said: two", 2)]
    assert said == ["You said: one", "You said: two"]


def test_what_a_handler_of_a_reply_raises_fails_the_call() -> None:
    async def scenario(trial: Trial) -> Any:
        async def handler(progress: Progress, actions: Actions) -> None:
            assert not isinstance(progress, ReplyDelivered), "not that"

        with pytest.raises(AssertionError, match="not that"):
            await trial.run(slack_mention("one"), on_progress=handler)

    on_slack(scenario)


@pytest.mark.parametrize(
    ("how", "calls"),
    [
        ({"error": "ratelimited", "retry_after": 30}, ["ratelimited", None]),
        ({"drop": "before"}, ["connection_lost", None]),
        ({"drop": "after"}, [None]),
    ],
)
def test_a_failure_that_passes_is_waited_for_and_the_reply_stands_once(how: Any, calls: list[str | None]) -> None:
    async def scenario(trial: Trial) -> Any:
        trial.faults.of_slack("chat.postMessage", **how)
        conversation = await trial.run(slack_mention("one"))
        assert trial.faults.left() == ()
        return [call.error for call in conversation.slack if call.method == "chat.postMessage"], texts(conversation)

    assert on_slack(scenario) == (calls, ["You said: one"])


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (slack_thread_message("x"), "no thread for a slack_thread_message"),
        (slack_edit("x"), "no thread for a slack_edit"),
        (slack_deletion(), "no thread for a slack_deletion"),
        (slack_bot_message("x"), "no thread for a slack_bot_message"),
    ],
)
def test_what_needs_a_thread_starts_no_conversation(item: Any, told: str) -> None:
    async def scenario(trial: Trial) -> Any:
        with pytest.raises(TrialInvalid, match=told):
            await trial.run(item)
        return posts(await trial.run(slack_mention("one")))

    on_slack(scenario)


@pytest.mark.parametrize(
    ("start", "item", "told"),
    [
        (slack_mention("a"), slack_direct_message("b"), "in a channel: send a slack_thread_message"),
        (slack_direct_message("a"), slack_mention("b"), "direct: send a slack_direct_message"),
        (slack_direct_message("a"), slack_direct_message("b", author="riley"), "riley is not in this direct"),
        (slack_mention("a"), slack_edit("b", author="riley"), "riley has written nothing"),
        (slack_mention("a"), slack_deletion(author="riley"), "riley has written nothing"),
    ],
)
def test_what_does_not_fit_the_conversation_is_a_mistake_of_the_test(start: Any, item: Any, told: str) -> None:
    async def scenario(trial: Trial) -> Any:
        first = await trial.run(start)
        with pytest.raises(TrialInvalid, match=told):
            await first.continue_(item)

    on_slack(scenario)


def test_a_fault_that_slack_would_not_have_and_mixed_history_are_mistakes_of_the_test() -> None:
    async def scenario(trial: Trial) -> Any:
        with pytest.raises(TrialInvalid, match=r"no method 'chat\.post'"):
            trial.faults.of_slack("chat.post", error="fatal_error")
        with pytest.raises(ValueError, match="on Slack or on the web"):
            await trial.load([slack_mention("a"), reply("b"), web_message("c"), reply("d")])
        await trial.run(slack_mention("one"))

    on_slack(scenario)


@pytest.mark.parametrize("composition", [Composition(), Composition(slack=True)])
def test_an_agent_that_is_not_on_slack_is_not_spoken_to_there(composition: Composition) -> None:
    async def scenario(trial: Trial) -> Any:
        with pytest.raises(TrialInvalid, match="not on Slack"):
            await trial.run(slack_mention("one"))
        web = await trial.run(web_message("one"))
        return web.slack, web.reactions

    assert both(scenario, composition=composition)[0] == ((), ())


def test_an_agent_that_refuses_its_own_messages_breaks_the_trial() -> None:
    async def run() -> None:
        async with echo_model() as url:
            upstream = Upstream(base_url=url, kind="invented")
            made = settings(upstream=upstream, binding=SlackBinding(RefusesItsOwn), composition=Composition(slack=True))
            async with open_trial(made) as trial:
                with pytest.raises(TrialBroken, match="could not tell the agent of its own message: the route"):
                    await trial.run(slack_mention("one"))

    asyncio.run(run())
