"""A decision of an agent is asked for by itself: it is recorded, has its steps, and runs no turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from invented_agent import InventedAgent, InventedBinding
from trials import both, settings

from seatrial.binding import InputRefused, World
from seatrial.conversation import Decision
from seatrial.inputs import web_message
from seatrial.trial import Trial, TrialBroken, TrialInvalid, open_trial


class Judicious(InventedAgent):
    """Decides about texts, and asks the model once more when it is refused."""

    async def decide(self, kind: str, proposal: Mapping[str, Any], *, conversation_id: str) -> Mapping[str, Any]:
        if kind != "taste":
            raise InputRefused("its decisions are: taste")
        said, _ = await self._ask(conversation_id, proposal["text"], role="guardian")
        self._step(conversation_id, "guardian.reviewed")
        return {"said": said}


class JudiciousBinding(InventedBinding):
    def agent(self, world: World) -> InventedAgent:
        return Judicious(world, self._way)


def deciding(scenario: Any, way: str = "right") -> Any:
    return both(scenario, way, binding=JudiciousBinding(way))


def told(decision: Decision) -> tuple[str, Mapping[str, Any], list[str]]:
    return decision.kind, decision.answer, [step.name for step in decision.steps]


def test_a_decision_is_recorded_and_belongs_to_no_conversation() -> None:
    async def scenario(trial: Trial) -> Any:
        first = told(await trial.decide("taste", {"text": "salt"}))
        talk = await trial.run(web_message("one"))
        again = told(await trial.decide("taste", {"text": "salt"}))
        return first, again, [step.name for step in talk.steps], [call.conversation_id for call in trial.calls]

    (first, again, steps, calls), recording = deciding(scenario)
    assert first == ("taste", {"said": "You said: salt"}, ["model.requested", "guardian.reviewed"])
    assert again == first
    assert "guardian.reviewed" not in steps
    assert [calls[0], calls[2]] == ["decision:1", "decision:2"]
    assert [(each.role, each.conversation) for each in recording.exchanges] == [
        ("guardian", 1), ("agent", 2), ("guardian", 3),
    ]  # fmt: skip


def test_time_moves_with_the_wait_that_answers_a_failure() -> None:
    async def scenario(trial: Trial) -> Any:
        trial.faults.of_model(reject="server", role="guardian")
        began = trial.clock.now()
        decision = await trial.decide("taste", {"text": "salt"})
        return told(decision)[1], (trial.clock.now() - began).total_seconds()

    assert deciding(scenario, "waits_and_asks_again")[0] == ({"said": "You said: salt"}, 30.0)


def test_what_is_no_decision_of_the_agents_is_a_mistake_of_the_test() -> None:
    async def scenario(trial: Trial) -> Any:
        with pytest.raises(TrialInvalid, match="'smell' cannot be asked that: its decisions are: taste"):
            await trial.decide("smell", {"text": "salt"})
        await trial.run(web_message("one"))

    deciding(scenario)


def test_an_agent_without_decisions_says_so() -> None:
    async def scenario(trial: Trial) -> Any:
        with pytest.raises(TrialInvalid, match="has no 'decide'"):
            await trial.decide("taste", {"text": "salt"})
        await trial.run(web_message("one"))

    both(scenario)


def test_a_decision_that_never_comes_breaks_the_trial() -> None:
    """In a replay. While a model is asked, nobody knows how long it takes."""

    class Undecided(Judicious):
        async def decide(self, kind: str, proposal: Mapping[str, Any], *, conversation_id: str) -> Mapping[str, Any]:
            if proposal.get("waits"):
                await self._world.timer.sleep(5)
            return await super().decide(kind, proposal, conversation_id=conversation_id)

    class UndecidedBinding(InventedBinding):
        def agent(self, world: World) -> InventedAgent:
            return Undecided(world, self._way)

    async def recorded(trial: Trial) -> Any:
        return told(await trial.decide("taste", {"text": "salt"}))

    _, recording = both(recorded, binding=UndecidedBinding())

    async def replayed() -> None:
        async with open_trial(settings(recording=recording, binding=UndecidedBinding(), idle_seconds=0.2)) as trial:
            with pytest.raises(TrialBroken, match=r"'taste' has decided nothing after 0\.2 s"):
                await trial.decide("taste", {"text": "salt", "waits": True})

    asyncio.run(replayed())
