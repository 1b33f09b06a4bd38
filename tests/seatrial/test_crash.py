"""A test can have its agent killed, start it again, and see what became of what people had sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from echo_model import echo_model
from mortal_agent import MortalBinding
from trials import both, settings

from seatrial import Kill, LogRow, web_message
from seatrial.gateway.upstream import Upstream
from seatrial.trial import Crash, Trial, TrialBroken, TrialInvalid, open_trial

ACCEPTED = ["message.accepted"]
ANSWERED = ["message.taken", "model.answered"]


def names(steps: Any) -> list[str]:
    return [step.name for step in steps]


def fails(scenario: Callable[[Trial], Awaitable[Any]], way: str = "right") -> None:
    """Run a scenario that has to hold what is raised itself."""

    async def run() -> None:
        async with echo_model() as url:
            upstream = Upstream(base_url=url, kind="invented")
            async with open_trial(settings(binding=MortalBinding(way), upstream=upstream)) as trial:
                await scenario(trial)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("kill", "before", "safe", "after"),
    [
        (Kill("message.accepted"), ACCEPTED, False, [*ANSWERED, "reply.delivered"]),
        (Kill("message.taken"), [*ACCEPTED, "message.taken"], True, [*ANSWERED, "reply.delivered"]),
        (Kill("model.answered"), [*ACCEPTED, *ANSWERED], True, [*ANSWERED, "reply.delivered"]),
        (Kill("reply.delivered"), [*ACCEPTED, *ANSWERED, "reply.delivered"], True, []),
    ],
    ids=lambda value: value.at if isinstance(value, Kill) else None,
)
def test_the_agent_dies_where_it_is_to_and_everything_is_seen_of_both_lives(
    kill: Kill, before: list[str], safe: bool, after: list[str]
) -> None:
    async def scenario(trial: Trial) -> Any:
        crash = await trial.crash(web_message("one"), kill)
        assert (names(crash.steps), crash.answered) == (before, safe)
        assert names(await crash.restart()) == after
        conversation = await crash.send_again()
        assert [reply.text for reply in conversation.replies] == ["You said: one"]
        assert names(conversation.steps)[: len(before) + len(after)] == [*before, *after]
        assert await crash.log() == (LogRow(1, "message"), LogRow(2, "reply"))
        asked = [request["messages"][0]["content"] for request in crash.asked]
        following = await conversation.continue_(web_message("two"))
        return asked, [reply.text for reply in following.replies]

    (asked, following), recording = both(scenario, binding=MortalBinding())
    assert set(asked) == {"one"} and following == ["You said: two"]
    assert len(recording.exchanges) == 2, "an answer that was given again is recorded once"


def test_a_kill_counts_from_when_it_is_ordered_and_after_another_point() -> None:
    async def scenario(trial: Trial) -> list[list[str]]:
        first = await trial.run(web_message("before"))
        batch = [web_message("one"), web_message("two")]
        crash = await trial.crash(
            batch, Kill("model.answered", since="reply.delivered"), conversation_id=first.conversation_id
        )
        seen = [names(crash.steps)]
        await crash.restart()
        answers = await crash.send_again()
        return [*seen, [reply.text for reply in answers.replies]]

    (steps, replies), _ = both(scenario, binding=MortalBinding())
    assert steps == ["message.accepted", "message.accepted", *ANSWERED, "reply.delivered", "model.answered"]
    assert replies == ["You said: one", "You said: two"]


def test_an_agent_that_is_started_again_may_get_its_inputs_again_before_it_works() -> None:
    async def scenario(trial: Trial) -> tuple[list[str], list[str]]:
        crash = await trial.crash(web_message("one"), Kill("message.accepted"))
        conversation = await crash.send_again()
        return names(conversation.steps), [reply.text for reply in conversation.replies]

    seen, _ = both(scenario, binding=MortalBinding())
    # It takes the nudge of its own start and that of the input, and finds nothing left to do with the second one.
    assert seen == (
        [*ACCEPTED, *ACCEPTED, *ANSWERED, "reply.delivered", "message.taken"],
        ["You said: one"],
    )


def test_an_agent_may_die_of_the_same_message_again() -> None:
    async def scenario(trial: Trial) -> list[str]:
        first = await trial.crash(web_message("one"), Kill("model.answered"))
        await first.restart()
        conversation = await first.send_again()
        second = await trial.crash(
            web_message("two"), Kill("message.taken"), conversation_id=conversation.conversation_id
        )
        await second.restart()
        return [reply.text for reply in (await second.send_again()).replies]

    replies, recording = both(scenario, binding=MortalBinding())
    assert (replies, len(recording.exchanges)) == (["You said: two"], 2)


@pytest.mark.parametrize(
    ("kill", "told"),
    [
        (Kill("model.answerd"), "the agent has no kill point 'model.answerd'; did you mean 'model.answered'"),
        (Kill("model.answered", since="nowhere"), "the agent has no kill point 'nowhere'"),
        (Kill("model.answered", 0), "the first time is 1"),
    ],
)
def test_a_point_that_cannot_be_come_to_is_invalid(kill: Kill, told: str) -> None:
    async def scenario(trial: Trial) -> None:
        with pytest.raises(TrialInvalid, match=told.replace("(", r"\(")):
            await trial.crash(web_message("one"), kill)

    fails(scenario)


def test_an_agent_in_the_tests_own_process_cannot_be_killed() -> None:
    async def scenario() -> None:
        async with open_trial(settings()) as trial:
            with pytest.raises(TrialInvalid, match="its binding runs it in the test's own process"):
                await trial.crash(web_message("one"), Kill("model.answered"))

    asyncio.run(scenario())


def test_an_agent_that_never_comes_to_the_point_breaks_the_trial_and_its_steps_are_told() -> None:
    async def scenario(trial: Trial) -> None:
        with pytest.raises(TrialBroken, match=r"never came to 'model.answered' \(3\).*reported message.accepted, mess"):
            await trial.crash(web_message("one"), Kill("model.answered", 3))

    fails(scenario)


def test_an_agent_that_dies_of_itself_breaks_the_trial() -> None:
    async def scenario(trial: Trial) -> None:
        with pytest.raises(TrialBroken, match="died in a call that did not kill it: it was killed"):
            await trial.run(web_message("one"))
        with pytest.raises(TrialBroken, match=r"the agent is dead .*: start it again before the next call"):
            await trial.run(web_message("two"))

    fails(scenario, "of itself")


def test_a_restart_belongs_to_one_crash() -> None:
    async def scenario(trial: Trial) -> None:
        crash: Crash = await trial.crash(web_message("one"), Kill("model.answered"))
        await crash.restart()
        with pytest.raises(RuntimeError, match="the agent lives"):
            await crash.restart()

    fails(scenario)


def test_a_kill_says_where_it_is_in_words() -> None:
    assert str(Kill("commit.after", 2, since="model.answered")) == "'commit.after' (2) since 'model.answered' (1)"
