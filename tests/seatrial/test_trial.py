"""The harness tests itself: what an agent does is seen, and what it skips is seen too."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from echo_model import echo_model
from invented_agent import InventedBinding

from seatrial import reply, web_message
from seatrial.binding import Calendar, Composition
from seatrial.conversation import Conversation
from seatrial.gateway.recording import Recording, dump_recording, load_recording
from seatrial.gateway.upstream import Upstream
from seatrial.steps import first_missing
from seatrial.stores.embedded import StoreUrls
from seatrial.trial import Trial, TrialBroken, TrialSettings, open_trial
from seatrial.verdict import Finding, Verdict, decide

DECLARED = ["message.accepted", "model.requested", "reply.delivered"]


def settings(way: str, recording: Recording | None, model: str | None = None) -> TrialSettings:
    return TrialSettings(
        binding=InventedBinding(way),
        composition=Composition(),
        stores=StoreUrls("", ""),
        at=datetime(2030, 1, 15, 12, tzinfo=UTC),
        calendar=Calendar(),
        snapshot=None,
        recording=recording,
        upstream=None if model is None else Upstream(base_url=model, kind="invented"),
    )


async def two_turns(trial: Trial) -> list[Conversation]:
    first = await trial.run(web_message("one"), history=[web_message("before"), reply("then")])
    return [first, await first.continue_(web_message("two"))]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """The two turns, recorded over HTTP from a model that repeats what it hears."""

    async def record() -> Recording:
        async with echo_model() as model, open_trial(settings("right", None, model)) as trial:
            await two_turns(trial)
            assert trial.findings() == ()
            return trial.recording_made(recorded_at="2030-01-15T12:00:00Z", contracts={})

    path = tmp_path_factory.mktemp("recordings") / "case.recording.json"
    path.write_text(dump_recording(asyncio.run(record())), encoding="utf-8", newline="")
    return load_recording(path)


def replay(way: str, recording: Recording | None) -> tuple[list[Conversation], tuple[Finding, ...]]:
    async def scenario() -> tuple[list[Conversation], tuple[Finding, ...]]:
        async with open_trial(settings(way, recording)) as trial:
            return await two_turns(trial), trial.findings()

    return asyncio.run(scenario())


def test_a_recorded_trial_replays_and_each_call_shows_only_what_it_did(recording: Recording) -> None:
    (first, second), findings = replay("right", recording)
    assert findings == ()
    assert [r.text for r in first.replies] == ["You said: one"]
    assert [r.text for r in second.replies] == ["You said: two"]
    assert [(s.author, s.text) for s in first.transcript] == [("person", "one"), ("agent", "You said: one")]
    assert [len(c.turns) for c in (first, second)] == [1, 1]
    assert all(first_missing(DECLARED, [s.name for s in c.steps]) is None for c in (first, second))


def test_an_agent_that_asks_no_model_is_broken(recording: Recording) -> None:
    _, findings = replay("asks_nobody", recording)
    verdict, reason = decide(findings)
    assert verdict is Verdict.BROKEN and reason is not None and "asked the model nothing" in reason.reason


def test_a_runner_that_passes_by_the_agents_own_way_is_missing_its_steps(recording: Recording) -> None:
    (first, _), findings = replay("reports_no_steps", recording)
    assert findings == ()
    assert [r.text for r in first.replies] == ["You said: one"]
    assert first_missing(DECLARED, [s.name for s in first.steps]) == "model.requested"


def test_steps_of_another_conversation_are_not_those_of_the_call(recording: Recording) -> None:
    (first, _), findings = replay("works_on_another_conversation_too", recording)
    assert findings == ()
    assert [step.name for step in first.steps] == DECLARED


def test_setup_data_is_not_stored_while_a_call_runs(recording: Recording) -> None:
    async def scenario() -> None:
        notes = replace(settings("right", recording), composition=Composition(("notes",)))
        async with open_trial(notes) as trial:
            first = asyncio.ensure_future(trial.run(web_message("one")))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="do not overlap"):
                await trial.insert("memory", {"text": "launch", "about": "team"})
            await first

    asyncio.run(scenario())


def test_an_error_in_background_work_fails_the_call_and_breaks_the_trial(recording: Recording) -> None:
    async def scenario() -> tuple[Finding, ...]:
        async with open_trial(settings("fails_in_background", recording)) as trial:
            with pytest.raises(TrialBroken, match="no title came"):
                await trial.run(web_message("one"))
            assert [r.text for r in trial.calls[0].replies] == ["You said: one"]
            return trial.findings()

    verdict, reason = decide(asyncio.run(scenario()))
    assert verdict is Verdict.BROKEN and reason is not None and "no title came" in reason.reason


def test_a_step_that_nobody_knows_breaks_the_trial(recording: Recording) -> None:
    verdict, reason = decide(replay("reports_an_unknown_step", recording)[1])
    assert verdict is Verdict.BROKEN and reason is not None and "turn.imagined" in reason.reason


def test_a_request_without_a_recording_is_unrecorded_whatever_the_agent_makes_of_it(recording: Recording) -> None:
    assert decide(replay("asks_twice", recording)[1])[0] is Verdict.UNRECORDED
    assert decide(replay("right", None)[1])[0] is Verdict.UNRECORDED


def test_a_recorded_answer_that_was_not_used_is_stale(recording: Recording) -> None:
    async def first_turn_only() -> tuple[Finding, ...]:
        async with open_trial(settings("right", recording)) as trial:
            await trial.run(web_message("one"))
            return trial.findings()

    assert decide(asyncio.run(first_turn_only()))[0] is Verdict.STALE


def test_recording_again_keeps_what_is_still_asked_and_drops_the_rest(recording: Recording) -> None:
    async def scenario() -> tuple[Recording, tuple[str, ...]]:
        async with echo_model() as model, open_trial(settings("right", recording, model)) as trial:
            first = await trial.run(web_message("one"))
            await first.continue_(web_message("another two"))
            assert trial.findings() == ()
            sources = tuple(request.source for request in trial.requests)
            return trial.recording_made(recorded_at="2030-02-01T12:00:00Z", contracts={}), sources

    made, sources = asyncio.run(scenario())
    assert sources == ("recorded", "spent")
    kept, new = made.exchanges
    assert kept.key == recording.exchanges[0].key and new.key != recording.exchanges[1].key


def test_an_upstream_that_cannot_be_reached_breaks_the_trial_and_nothing_hangs() -> None:
    async def scenario() -> None:
        nobody = "http://127.0.0.1:1/v1"
        async with open_trial(settings("waits_and_asks_again", None, nobody)) as trial:
            await trial.run(web_message("one"))

    with pytest.raises(TrialBroken, match="cannot be reached"):
        asyncio.run(scenario())


def test_a_refused_input_breaks_the_trial_and_says_why(recording: Recording) -> None:
    with pytest.raises(TrialBroken, match="the route answered 503"):
        replay("refuses", recording)


def test_calls_on_one_agent_do_not_overlap(recording: Recording) -> None:
    async def scenario() -> None:
        async with open_trial(settings("right", recording)) as trial:
            first = asyncio.ensure_future(trial.run(web_message("one")))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="do not overlap"):
                await trial.run(web_message("two"))
            await first

    asyncio.run(scenario())
