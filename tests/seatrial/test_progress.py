"""A test looks on while a turn runs: what it does then comes of the agent's own rules, recorded and replayed alike."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from echo_model import echo_model
from trials import START, Scenario, both, settings

from seatrial import (
    Actions,
    ModelRequest,
    Paused,
    Progress,
    ToolRequest,
    web_message,
    web_stop,
)
from seatrial.gateway.recording import Aborted, Recording
from seatrial.gateway.upstream import Upstream
from seatrial.progress import OnProgress
from seatrial.trial import Trial, TrialBroken, open_trial
from seatrial.verdict import Verdict, decide

Doing = Mapping[tuple[type[Progress], int], Callable[[Actions], Awaitable[None]]]
SLICES = {"slice_seconds": 30}


class Script:
    """A handler that keeps what it was told, and does what is laid out for it."""

    def __init__(self, what: Doing) -> None:
        self.what = what
        self.told: list[Progress] = []

    async def __call__(self, progress: Progress, actions: Actions) -> None:
        self.told.append(progress)
        if (moment := (type(progress), progress.nth)) in self.what:
            await self.what[moment](actions)


def send(text: str, author: str = "morgan") -> Callable[[Actions], Awaitable[None]]:
    return lambda actions: actions.send(web_message(text, author=author))


def advance(seconds: float) -> Callable[[Actions], Awaitable[None]]:
    return lambda actions: actions.advance(seconds)


async def stop(actions: Actions) -> None:
    await actions.send(web_stop())


def call(text: str, what: Doing) -> Scenario:
    async def scenario(trial: Trial) -> Any:
        script = Script(what)
        seen = await trial.run(web_message(text), on_progress=script)
        return script.told, [(turn.status, [reply.text for reply in turn.replies]) for turn in seen.turns]

    return scenario


def test_what_the_author_sends_at_a_model_request_joins_the_turn() -> None:
    seen, made = both(call("one", {(ModelRequest, 1): send("two")}))
    assert seen == ([ModelRequest(1), ModelRequest(2)], [("succeeded", ["You said: one / two"])])
    assert len(made.exchanges) == 2


def test_what_another_person_sends_at_a_model_request_is_a_turn_of_its_own() -> None:
    seen, _ = both(call("one", {(ModelRequest, 1): send("two", "riley")}))
    told, turns = seen
    assert turns == [("succeeded", ["You said: one"]), ("succeeded", ["You said: two"])]
    assert told == [ModelRequest(1), ModelRequest(2)]


def test_the_request_is_held_until_the_handler_has_returned() -> None:
    """Otherwise the first answer would be there before the second message, and nothing would be asked again."""

    async def late(actions: Actions) -> None:
        await rounds(500)
        await actions.send(web_message("two"))

    seen, _ = both(call("one", {(ModelRequest, 1): late}))
    assert seen[1] == [("succeeded", ["You said: one / two"])]


def test_each_call_of_an_answer_is_told_and_the_agent_has_the_answer_after_the_last() -> None:
    async def scenario(trial: Trial) -> Any:
        script = Script({(ToolRequest, 2): send("again")})
        seen = await trial.run(web_message("use a, b"), on_progress=script)
        return script.told, [call.input["query"] for call in seen.tool_calls]

    (told, made), _ = both(scenario)
    requests = [ToolRequest("look_up", {"query": query}, nth) for nth, query in enumerate("abab", start=1)]
    # The first answer came too late for the message, so its calls were not made.
    assert told == [ModelRequest(1), *requests[:2], ModelRequest(2), *requests[2:], ModelRequest(3)]
    assert made == ["a", "b"]


def test_what_is_asked_beside_the_turn_is_not_told() -> None:
    async def scenario(trial: Trial) -> Any:
        script = Script({})
        await trial.run(web_message("one"), on_progress=script)
        return script.told, [request.role for request in trial.requests]

    assert both(scenario, "asks_for_a_title")[0] == ([ModelRequest(1)], ["agent", "title"])


def test_a_stop_aborts_the_running_request_and_the_abort_is_recorded() -> None:
    seen, made = both(call("slow", {(ModelRequest, 1): stop}))
    assert seen == ([ModelRequest(1)], [("no_reply", ["I stopped."])])
    assert [exchange.outcome for exchange in made.exchanges] == [Aborted()]


def test_a_stop_at_a_tool_request_keeps_the_answer_that_was_complete() -> None:
    seen, made = both(call("use a", {(ToolRequest, 1): stop}))
    assert seen[1] == [("no_reply", ["I stopped."])]
    assert [exchange.outcome.kind for exchange in made.exchanges] == ["answer"]


def test_a_handler_goes_on_when_the_answer_that_it_holds_is_given_up() -> None:
    async def stops_and_sends(actions: Actions) -> None:
        await actions.send(web_stop())
        await rounds(500)
        await actions.send(web_message("again", author="riley"))

    seen, _ = both(call("use a", {(ToolRequest, 1): stops_and_sends}))
    assert seen[1] == [("no_reply", ["I stopped."]), ("succeeded", ["You said: again"])]


def test_an_abort_that_no_longer_happens_is_no_pass() -> None:
    scenario = call("slow", {(ModelRequest, 1): stop})
    _, made = both(scenario)

    async def replay() -> None:
        async with open_trial(settings("ignores_a_stop", recording=made, idle_seconds=0.2)) as trial:
            await scenario(trial)

    with pytest.raises(TrialBroken, match="the recording says the agent aborted, and that it did not abort"):
        asyncio.run(replay())


def test_an_abort_that_still_happens_stays_as_it_was_recorded() -> None:
    scenario = call("slow", {(ModelRequest, 1): stop})
    _, made = both(scenario)

    async def again() -> Recording:
        async with echo_model() as url:
            upstream = Upstream(base_url=url, kind="invented")
            async with open_trial(settings(recording=made, upstream=upstream)) as trial:
                await scenario(trial)
                return trial.recording_made(recorded_at="2031-01-01T00:00:00Z", contracts={})

    assert asyncio.run(again()) == made


def test_time_that_passes_during_a_request_pauses_the_turn_whose_rest_waits_for_the_handler() -> None:
    async def scenario(trial: Trial) -> Any:
        script = Script({(ModelRequest, 1): advance(30), (Paused, 1): send("go on")})
        seen = await trial.run(web_message("slow"), on_progress=script)
        return script.told, [reply.text for reply in seen.replies], [s.name for s in seen.steps], trial.clock.now()

    (told, replies, steps, now), made = both(scenario, limits=SLICES)
    assert told == [ModelRequest(1), Paused(1), ModelRequest(2)]
    assert replies == ["You said: slow / go on"]
    assert steps[:4] == ["message.accepted", "model.requested", "turn.paused", "message.accepted"]
    assert now == datetime(2030, 1, 15, 12, 0, 30, tzinfo=UTC)
    assert [exchange.outcome.kind for exchange in made.exchanges] == ["aborted_by_client", "answer"]


def test_less_time_than_the_slice_has_pauses_nothing() -> None:
    seen, _ = both(call("one", {(ModelRequest, 1): advance(29)}), limits=SLICES)
    assert seen == ([ModelRequest(1)], [("succeeded", ["You said: one"])])


def test_a_handler_is_told_one_thing_at_a_time_and_the_call_waits_for_it() -> None:
    """The stop ends the turn and the message starts another while the handler of the first has not returned."""
    order: list[str] = []

    async def handler(progress: Progress, actions: Actions) -> None:
        order.append(f"told {progress.nth}")
        if progress == ModelRequest(1):
            await actions.send(web_stop())
            await rounds(500)
            await actions.send(web_message("again", author="riley"))
            await rounds(500)
        order.append(f"returns {progress.nth}")

    async def scenario(trial: Trial) -> Any:
        order.clear()
        seen = await trial.run(web_message("slow"), on_progress=handler)
        return list(order), [turn.status for turn in seen.turns]

    seen, _ = both(scenario)
    assert seen == (["told 1", "returns 1", "told 2", "returns 2"], ["no_reply", "succeeded"])


async def rounds(count: int) -> None:
    """Let everything else have so many turns of the event loop."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_moments_are_counted_anew_in_each_call() -> None:
    async def scenario(trial: Trial) -> Any:
        first, second = Script({}), Script({})
        conversation = await trial.run(web_message("one"), on_progress=first)
        await conversation.continue_(web_message("two"), on_progress=second)
        return first.told, second.told

    assert both(scenario)[0] == ([ModelRequest(1)], [ModelRequest(1)])


async def _fails(actions: Actions) -> None:
    raise AssertionError("this is not what I expected")


@pytest.mark.parametrize(
    ("text", "moment", "before"),
    [
        ("one", (ModelRequest, 1), {}),
        ("use a", (ToolRequest, 1), {}),
        ("slow", (Paused, 1), {(ModelRequest, 1): advance(30)}),
    ],
)
@pytest.mark.parametrize("recording", [True, False])
def test_what_a_handler_raises_fails_the_call(
    text: str, moment: tuple[type[Progress], int], before: Doing, recording: bool
) -> None:
    resumed: Doing = {(Paused, 1): send("go on")}
    _, made = both(call(text, {**before, **resumed}), limits=SLICES)

    left: list[str] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: left.append(context["message"]))
        async with echo_model() as url:
            upstream = Upstream(base_url=url, kind="invented")
            parts: dict[str, Any] = {"upstream": upstream} if recording else {"recording": made}
            async with open_trial(settings(limits=SLICES, **parts)) as trial:
                try:
                    await call(text, {**before, moment: _fails})(trial)
                finally:
                    told = trial.findings()
                    assert not told or decide(told)[0] is Verdict.STALE  # nothing that hides why the call failed

    with pytest.raises(AssertionError, match="not what I expected"):
        asyncio.run(run())
    gc.collect()
    assert left == []  # a task that nobody awaited would tell of itself now


def with_handler(handler: OnProgress, *, recording: bool = False, idle_seconds: float = 60.0) -> None:
    _, made = both(call("one", {}))

    async def run() -> None:
        async with echo_model() as url, asyncio.timeout(10):
            upstream = Upstream(base_url=url, kind="invented")
            parts: dict[str, Any] = {"upstream": upstream} if recording else {"recording": made}
            async with open_trial(settings(idle_seconds=idle_seconds, **parts)) as trial:
                await trial.run(web_message("one"), on_progress=handler)

    asyncio.run(run())


@pytest.mark.parametrize("recording", [True, False])
def test_a_handler_that_does_not_return_is_named(recording: bool) -> None:
    async def handler(progress: Progress, actions: Actions) -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(TrialBroken, match="the handler of on_progress, told of ModelRequest 1"):
        with_handler(handler, recording=recording, idle_seconds=0.2)


def test_a_handler_can_do_nothing_after_its_call() -> None:
    kept: list[Actions] = []

    async def handler(progress: Progress, actions: Actions) -> None:
        kept.append(actions)

    with_handler(handler)
    for action in (kept[0].send(web_message("two")), kept[0].advance(1)):
        with pytest.raises(RuntimeError, match="the call is over"):
            asyncio.run(_awaited(action))


async def _awaited(action: Any) -> None:
    await action


def test_time_does_not_run_backwards_in_a_handler() -> None:
    async def handler(progress: Progress, actions: Actions) -> None:
        await actions.advance(-1)

    with pytest.raises(ValueError, match="only runs forward"):
        with_handler(handler)


def test_an_agent_that_tries_again_after_an_error_has_its_wait_passed() -> None:
    async def scenario(trial: Trial) -> Any:
        seen = await trial.run(web_message("odd"))
        return [reply.text for reply in seen.replies], (trial.clock.now() - START).total_seconds()

    seen, made = both(scenario, "waits_and_asks_again")
    assert seen == (["You said: odd"], 30.0)
    assert [exchange.occurrence for exchange in made.exchanges] == [1, 2]


def test_a_turn_that_is_to_be_repeated_later_is_named() -> None:
    _, made = both(call("one", {}))

    async def run() -> None:
        async with open_trial(settings("leaves_a_repair", recording=made)) as trial:
            await trial.run(web_message("one"))

    with pytest.raises(TrialBroken, match="repair nudge for conversation 1"):
        asyncio.run(run())
