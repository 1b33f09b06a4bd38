"""Bosun is killed at each station of a message's way and started again: the message is answered once, whatever died.

Nothing is handed over from one process to the next but what is in the stores and the queue. The person whose message it
was does what clients do that were cut off: sends it again, with the same key, which changes nothing where it was safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from seatrial import Actions, Conversation, Crash, Kill, MakeAgent, ModelRequest, Progress, StepSeen, web_message

KEEP = "Remember that the launch is on Friday."
ASK = "When is the launch?"

ROUTED = ["message.accepted", "message.taken", "model.requested", "model.answered", "turn.routed"]
ASKED = [*ROUTED, "context.loaded", "context.rendered", "model.requested"]
CALLED = [*ASKED, "model.answered", "tool.called", "guardian.reviewed"]
ANSWERED = [*CALLED, "tool.finished", "context.loaded", "context.rendered", "model.requested", "model.answered"]
"""What Bosun reports of a turn that keeps something: how it is routed, its request, its call, its answer."""
LEASE_SECONDS = 90
SLICE_SECONDS = 10
"""Shorter than it takes until the lease is checked in for the first time."""


async def test_before_anything(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("request.received"), [], answered=False)
    assert await crash.restart() == ()
    await answered_once(crash)


async def test_before_the_append(agent: MakeAgent) -> None:
    """The conversation is there, and its message is not: the first commit opens the conversation."""
    crash = await killed(agent, Kill("commit.after"), [], answered=False)
    assert await crash.restart() == ()
    await answered_once(crash)


async def test_after_the_append(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("message.accepted"), ["message.accepted"], answered=False)
    assert names(await crash.restart())[0] == "message.taken"
    await answered_once(crash)


async def test_after_the_nudge(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("nudge.sent"), ["message.accepted"], answered=False)
    assert names(await crash.restart())[0] == "message.taken"
    await answered_once(crash)


async def test_after_the_answer_to_the_request(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("request.answered"), ["message.accepted"])
    await crash.restart()
    await answered_once(crash)


async def test_with_the_nudge_in_hand(agent: MakeAgent) -> None:
    """The nudge is lost with the worker that had it, before it has a lease."""
    crash = await killed(agent, Kill("nudge.received"), ["message.accepted"])
    await crash.restart()
    await answered_once(crash)


async def test_lease_taken(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("message.taken"), ["message.accepted", "message.taken"])
    await crash.restart()
    await answered_once(crash)


async def test_turn_started(agent: MakeAgent) -> None:
    """The first commit of the turn shows the message, the second one starts the turn."""
    kill = Kill("commit.after", 2, since="message.taken")
    crash = await killed(agent, kill, ["message.accepted", "message.taken"])
    await crash.restart()
    await answered_once(crash)


async def test_router_asked(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("model.requested"), ROUTED[:3])
    assert names(await crash.restart()).count("turn.routed") == 1
    await answered_once(crash)


async def test_router_answered(agent: MakeAgent) -> None:
    """The route dies with the process before it is stored, and nothing went by it: it is decided again."""
    crash = await killed(agent, Kill("model.answered"), ROUTED[:4])
    assert names(await crash.restart()).count("turn.routed") == 1
    await answered_once(crash)


async def test_routed(agent: MakeAgent) -> None:
    """The route is stored: the next process goes by it and decides nothing."""
    crash = await killed(agent, Kill("turn.routed"), ROUTED)
    assert "turn.routed" not in names(await crash.restart())
    await answered_once(crash)


async def test_model_asked(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("model.requested", 2), ASKED)
    await crash.restart()
    await answered_once(crash)


async def test_model_answered(agent: MakeAgent) -> None:
    """The answer dies with the process, and nothing of it was acted upon: the model is asked again."""
    crash = await killed(agent, Kill("model.answered", 2), [*ASKED, "model.answered"])
    assert names(await crash.restart()).count("tool.called") == 1
    await answered_once(crash)


async def test_call_decided(agent: MakeAgent) -> None:
    """What was decided and not begun is made by the next process, by the decision that is stored."""
    crash = await killed(agent, Kill("guardian.reviewed"), CALLED)
    assert "guardian.reviewed" not in names(await crash.restart())
    await answered_once(crash)


async def test_tool_started(agent: MakeAgent) -> None:
    """The commit that it begins is there, and it did not run: nobody can know, so it is not run again."""
    crash = await killed(agent, Kill("commit.after", since="guardian.reviewed"), CALLED)
    assert "tool.called" not in until("model.requested", await crash.restart())
    await answered_once(crash, first_call="timed_out")


async def test_tool_ran_and_no_result_is_stored(agent: MakeAgent) -> None:
    """What it was to keep is kept, which the next process does not know."""
    crash = await killed(agent, Kill("commit.after", 2, since="guardian.reviewed"), CALLED)
    assert "tool.called" not in until("model.requested", await crash.restart())
    await answered_once(crash, first_call="timed_out")


async def test_tool_finished(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("tool.finished"), [*CALLED, "tool.finished"])
    assert "tool.called" not in until("model.requested", await crash.restart())
    await answered_once(crash)


async def test_before_the_commit_of_the_turn(agent: MakeAgent) -> None:
    """The answer is on its way to the log, and the log never hears of it."""
    crash = await killed(agent, Kill("commit.before", since="model.answered", since_nth=3), ANSWERED)
    assert "reply.delivered" in names(await crash.restart())
    await answered_once(crash)


async def test_after_the_commit_of_the_turn(agent: MakeAgent) -> None:
    """The log has the answer, Bosun never heard that it has, and the message is still in the mailbox."""
    crash = await killed(agent, Kill("commit.after", since="model.answered", since_nth=3), ANSWERED)
    assert of_the_turn(await crash.restart()) == []
    await answered_once(crash)


async def test_before_the_messages_are_consumed(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("turn.completed"), [*ANSWERED, "reply.delivered", "turn.completed"])
    assert of_the_turn(await crash.restart()) == []
    await answered_once(crash)


async def test_before_the_nudge_is_done(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("nudge.done"), [*ANSWERED, "reply.delivered", "turn.completed"])
    assert of_the_turn(await crash.restart()) == []
    await answered_once(crash)


async def test_started_again_just_before_the_lease_expires(agent: MakeAgent) -> None:
    bosun = await agent(plugins=["memory"])
    crash = await bosun.crash(web_message(KEEP), Kill("model.answered", 2))
    bosun.clock.advance(LEASE_SECONDS - 1)
    await crash.restart()
    await answered_once(crash)


async def test_started_again_just_when_the_lease_has_expired(agent: MakeAgent) -> None:
    """Nobody waits for it: the first look takes the conversation over."""
    bosun = await agent(plugins=["memory"])
    crash = await bosun.crash(web_message(KEEP), Kill("model.answered", 2))
    bosun.clock.advance(LEASE_SECONDS)
    then = bosun.clock.now()
    await crash.restart()
    assert bosun.clock.now() == then
    await answered_once(crash)


async def test_pausing(agent: MakeAgent) -> None:
    """The log says that the turn is paused, and the mailbox still that it runs."""
    crash = await killed_in_a_pause(agent, Kill("turn.paused"))
    assert "turn.completed" in names(await crash.restart())
    await answered_once(crash)


async def test_paused(agent: MakeAgent) -> None:
    """The turn is paused, and its resumption is in the queue, which the next process does not know."""
    crash = await killed_in_a_pause(agent, Kill("nudge.sent", since="turn.paused"))
    assert names(await crash.restart()).count("message.taken") == 1
    await answered_once(crash)


async def test_sent_again_before_anybody_has_looked(agent: MakeAgent) -> None:
    """Both times are in the mailbox before the worker has seen one."""
    crash = await killed(agent, Kill("nudge.sent"), ["message.accepted"], answered=False)
    await answered_once(crash)


async def test_sent_again_under_the_lease_of_the_dead(agent: MakeAgent) -> None:
    crash = await killed(agent, Kill("model.answered", 2), [*ASKED, "model.answered"])
    await answered_once(crash)


async def test_two_messages_of_one_turn(agent: MakeAgent) -> None:
    bosun = await agent(plugins=["memory"])
    crash = await bosun.crash([web_message(KEEP), web_message(ASK)], Kill("model.answered", 2))
    await crash.restart()
    await both_answered(crash)


async def test_a_message_that_came_while_the_turn_ran(agent: MakeAgent) -> None:
    """It is in the mailbox alone, and its sender was told that it is safe. Nobody sends it again."""

    async def add(progress: Progress, actions: Actions) -> None:
        if progress == ModelRequest(1):
            await actions.send(web_message(ASK))

    bosun = await agent(plugins=["memory"])
    crash = await bosun.crash(web_message(KEEP), Kill("model.answered", 2), on_progress=add)
    await crash.restart()
    await both_answered(crash)


async def test_in_a_conversation_that_goes_on(agent: MakeAgent) -> None:
    bosun = await agent(plugins=["memory"])
    conversation = await bosun.run(web_message(KEEP))
    crash = await bosun.crash(web_message(ASK), Kill("reply.delivered"), conversation=conversation)
    assert await crash.restart() == ()
    answer = await crash.send_again()
    assert [(turn.status, len(turn.replies)) for turn in answer.turns] == [("succeeded", 1)]
    assert [said.text for said in answer.transcript] == [ASK, answer.replies[0].text]


# what they have in common


async def killed(agent: MakeAgent, kill: Kill, reported: list[str], *, answered: bool = True) -> Crash:
    """Send what is to be kept and have Bosun killed, at exactly the point that its last reports say."""
    bosun = await agent(plugins=["memory"])
    crash = await bosun.crash(web_message(KEEP), kill)
    assert names(crash.steps) == reported
    assert crash.answered is answered
    return crash


async def killed_in_a_pause(agent: MakeAgent, kill: Kill) -> Crash:
    """Have the first request of the turn outlast its slice, and Bosun killed in the pause."""

    async def wait(progress: Progress, actions: Actions) -> None:
        if progress == ModelRequest(1):
            await actions.advance(SLICE_SECONDS)

    bosun = await agent(plugins=["memory"], limits={"slice_budget_seconds": SLICE_SECONDS})
    crash = await bosun.crash(web_message(KEEP), kill, on_progress=wait)
    assert names(crash.steps) == [*ASKED, "turn.paused"]
    return crash


async def both_answered(crash: Crash) -> None:
    """Send again, and see both messages once, and an answer to the turn that has them."""
    conversation = await crash.send_again()
    (turn,) = conversation.turns
    (reply,) = conversation.replies
    assert (turn.status, reply.kind) == ("succeeded", "answer")
    assert [said.text for said in conversation.transcript] == [KEEP, ASK, reply.text]
    await kept_once(crash, conversation, KEEP, ASK)


async def answered_once(crash: Crash, *, first_call: str = "succeeded") -> Conversation:
    """Send again, and see one turn with one answer to one message, no call made twice, and a next turn that works."""
    conversation = await crash.send_again()
    (turn,) = conversation.turns
    (reply,) = conversation.replies
    assert (turn.status, reply.kind) == ("succeeded", "answer")
    assert [said.text for said in conversation.transcript] == [KEEP, reply.text]
    assert names(conversation.steps).count("message.accepted") == 1
    assert [call.status for call in turn.tool_calls][:1] == [first_call]
    ended = [step.fields["name"] for step in conversation.steps if step.name == "tool.finished"]
    assert ended == [call.name for call in turn.tool_calls]
    await kept_once(crash, conversation, KEEP)
    following = await conversation.continue_(web_message(ASK))
    assert [(turn.status, len(turn.replies)) for turn in following.turns] == [("succeeded", 1)]
    assert "Friday" in following.replies[0].text
    return conversation


async def kept_once(crash: Crash, conversation: Conversation, *texts: str) -> None:
    """See in the log that nothing is missing or done twice, and that the model was told nothing twice."""
    rows = await crash.log()
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    calls = len(conversation.tool_calls)
    once = {"turn_started": 1, "turn_completed": 1, "tool_execution_started": calls, "tool_result": calls}
    each = dict.fromkeys(("message_handled", "user_message"), len(texts))
    counts = Counter(row.type for row in rows)
    wanted = {"message": len(texts) + 1, **each, **once}
    assert {kind: counts[kind] for kind in wanted} == wanted
    told = [[said["content"] for said in request["messages"] if said["role"] == "user"] for request in crash.asked]
    assert told[-1] == list(texts)
    assert all(earlier == list(texts[: len(earlier)]) for earlier in told)


def names(steps: Iterable[StepSeen]) -> list[str]:
    return [step.name for step in steps]


def of_the_turn(steps: Iterable[StepSeen]) -> list[str]:
    """What was reported besides the title, which died with its process and is made by the next one."""
    return [step.name for step in steps if step.name != "task.finished" and step.fields.get("role") != "title"]


def until(name: str, steps: Iterable[StepSeen]) -> list[str]:
    seen = names(steps)
    return seen[: seen.index(name)]
