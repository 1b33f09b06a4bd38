"""What a test orders to fail at the model's provider, told by an agent that tries again and one that does not."""

from __future__ import annotations

from typing import Any

import pytest
from trials import both

from seatrial.inputs import web_message
from seatrial.trial import Trial, TrialInvalid

FAILS = [
    {"reject": "rate_limit"},
    {"reject": "rate_limit", "retry_after": 7},
    {"reject": "auth"},
    {"reject": "quota"},
    {"reject": "permission"},
    {"reject": "capacity"},
    {"reject": "timeout"},
    {"reject": "server"},
    {"reject": "invalid_request"},
    {"reject": "content_policy"},
]


@pytest.mark.parametrize("how", FAILS)
def test_a_refused_request_fails_and_uses_no_recorded_answer_up(how: Any) -> None:
    async def scenario(trial: Trial) -> Any:
        trial.faults.of_model(**how)
        first = await trial.run(web_message("one"))
        assert trial.faults.left() == ()
        again = await first.continue_(web_message("one"))
        return [reply.text for call in (first, again) for reply in call.replies]

    seen, recording = both(scenario)
    assert seen == ["error", "You said: one"]
    assert len(recording.exchanges) == 1


@pytest.mark.parametrize("times", [1, 3])
def test_an_agent_that_asks_again_is_refused_as_often_as_was_ordered(times: int) -> None:
    async def scenario(trial: Trial) -> Any:
        trial.faults.of_model(reject="server", times=times)
        began = trial.clock.now()
        conversation = await trial.run(web_message("one"))
        waited = (trial.clock.now() - began).total_seconds()
        return [reply.text for reply in conversation.replies], waited

    seen, recording = both(scenario, "waits_and_asks_again")
    assert seen == (["You said: one"], 30.0 * times)
    assert len(recording.exchanges) == 1


def test_a_fault_is_of_a_role() -> None:
    async def scenario(trial: Trial) -> Any:
        trial.faults.of_model(reject="server", role="router")
        conversation = await trial.run(web_message("one"))
        return [reply.text for reply in conversation.replies], trial.faults.left()

    seen, _ = both(scenario)
    assert seen == (["You said: one"], ("a request of the router that is refused (server)",))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({}, "one of"),
        ({"reject": "server", "time_out": True}, "one of"),
        ({"reject": "unknown"}, "no provider refuses with 'unknown'"),
        ({"reject": "server", "role": "cook"}, "role 'cook'"),
        ({"reject": "server", "role": "web"}, "role 'web'"),
        ({"reject": "server", "times": 0}, "0 times"),
        ({"cut_after": -1}, "after -1 events"),
        ({"reject": "auth", "retry_after": 3}, "asks to wait"),
        ({"reject": "server", "retry_after": -3}, "asks to wait"),
    ],
)
def test_what_no_provider_does_is_a_mistake_of_the_test(how: Any, told: str) -> None:
    async def scenario(trial: Trial) -> Any:
        with pytest.raises(TrialInvalid, match=told):
            trial.faults.of_model(**how)
        await trial.run(web_message("one"))
        return trial.faults.left()

    assert both(scenario)[0] == ()


def test_faults_come_to_pass_in_their_order() -> None:
    async def scenario(trial: Trial) -> Any:
        trial.faults.of_model(reject="auth")
        trial.faults.of_model(reject="server")
        left = [trial.faults.left()]
        for _ in range(2):
            await trial.run(web_message("one"))
            left.append(trial.faults.left())
        await trial.run(web_message("one"))
        return left

    auth, server = "a request of the agent that is refused (auth)", "a request of the agent that is refused (server)"
    assert both(scenario)[0] == [(auth, server), (server,), ()]
