"""The router, one decision each: what it has to tell apart, as far as a small model can.

`src/bosun/model/DECISIONS.md` says how far that is.
"""

from __future__ import annotations

from seatrial import MakeAgent

STEPS = ["model.requested", "model.answered", "turn.routed"]


async def routed(agent: MakeAgent, asked: str) -> tuple[str, str, str]:
    """Return the profile, how much reasoning, and who decided; see that the model was asked once."""
    bosun = await agent()
    decision = await bosun.decide("router", asked=asked)
    assert [step.name for step in decision.steps] == STEPS
    return decision.answer["profile"], decision.answer["reasoning"], decision.answer["by"]


async def test_thanks_are_quick(agent: MakeAgent) -> None:
    assert await routed(agent, "Great, thanks a lot") == ("quick", "low", "model")


async def test_a_greeting_is_quick(agent: MakeAgent) -> None:
    assert await routed(agent, "Hi Bosun, good morning") == ("quick", "low", "model")


async def test_a_question_is_standard(agent: MakeAgent) -> None:
    assert await routed(agent, "Which plan are we on?") == ("standard", "medium", "model")


async def test_something_to_remember_is_standard(agent: MakeAgent) -> None:
    assert await routed(agent, "Remember that the review is on Thursday.") == ("standard", "medium", "model")


async def test_a_plan_is_deep(agent: MakeAgent) -> None:
    asked = "Plan the migration of all our projects step by step."
    assert await routed(agent, asked) == ("deep", "high", "model")


async def test_a_comparison_is_deep(agent: MakeAgent) -> None:
    asked = "Compare Delta and Echo, and say which of them we should stop and why."
    assert await routed(agent, asked) == ("deep", "high", "model")


async def test_a_router_that_cannot_be_asked_is_the_standard_profile(agent: MakeAgent) -> None:
    """Twice refused, it is not asked a third time; the next decision is the model's again."""
    bosun = await agent()
    bosun.reject_next_model_request("server", times=2, role="router")
    failed = await bosun.decide("router", asked="Which plan are we on?")
    assert (failed.answer["profile"], failed.answer["reasoning"], failed.answer["confidence"]) == (
        "standard",
        "medium",
        0.0,
    )
    assert [step.name for step in failed.steps] == ["model.requested", "model.requested", "turn.routed"]
    following = await bosun.decide("router", asked="Which plan are we on?")
    assert following.answer["reason"] != failed.answer["reason"]
