"""The router: what an answer comes to, what is chosen from, and that a doubt is the standard route."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turn_bench import ONE_PROFILE, Unreachable

from bosun.context.routing import route_answer, route_prompt
from bosun.log.events import TokenUsage
from bosun.model.profiles import DEFAULT_PROFILES, MOST_PROFILES, Profile, check_profiles
from bosun.model.router import Route, RouteProposal, Router, read_route

NAMES = ("quick", "standard", "deep")
USAGE = TokenUsage(input_tokens=3, output_tokens=2)
ASKED = RouteProposal(asked="Which plan am I on?", conversation_id="web:c")


def answer(**changes: Any) -> str:
    return json.dumps({"reason": "why", "profile": "deep", "reasoning": "high", "confidence": 0.9, **changes})


def test_a_sure_answer_is_the_route() -> None:
    route = read_route(answer(), NAMES, USAGE)
    assert route == Route(profile="deep", reasoning="high", confidence=0.9, reason="why", by="model", usage=USAGE)


@pytest.mark.parametrize(
    ("text", "confidence", "reason"),
    [
        (answer(confidence=0.74), 0.74, "not sure"),
        (answer(confidence=0), 0, "not sure"),
        (answer(profile="huge"), 0, "there is not"),
        (answer(reasoning="extreme"), 0, "cannot be read"),
        (answer(confidence=1.5), 0, "cannot be read"),
        (answer(confidence="0.9"), 0, "cannot be read"),
        (answer(more=1), 0, "cannot be read"),
        ("", 0, "cannot be read"),
        ("deep", 0, "cannot be read"),
        (answer()[:-5], 0, "cannot be read"),
        ("[]", 0, "cannot be read"),
    ],
)
def test_anything_else_is_the_standard_route(text: str, confidence: float, reason: str) -> None:
    route = read_route(text, NAMES, USAGE)
    assert (route.profile, route.reasoning, route.confidence, route.by) == ("standard", "medium", confidence, "model")
    assert reason in route.reason
    assert route.usage == USAGE


def test_the_least_confidence_is_three_quarters() -> None:
    assert read_route(answer(confidence=0.75), NAMES, USAGE).profile == "deep"


@settings(derandomize=True, database=None, deadline=None)
@given(st.text(max_size=300) | st.builds(json.dumps, st.recursive(st.none() | st.text() | st.floats(), st.lists)))
def test_whatever_is_answered_there_is_a_route(text: str) -> None:
    assert read_route(text, NAMES, USAGE).profile in NAMES


async def test_a_model_that_cannot_be_asked_is_no_reason_not_to_think() -> None:
    route = await Router(Unreachable()).decide(ASKED)
    assert (route.profile, route.reasoning, route.confidence, route.by) == ("standard", "medium", 0.0, "model")


async def test_nobody_is_asked_where_nothing_is_to_be_chosen() -> None:
    route = await Router(Unreachable(), ONE_PROFILE).decide(ASKED)
    assert (route.profile, route.by, route.confidence) == ("standard", "rule", 1.0)


async def test_how_much_reasoning_is_a_choice_too() -> None:
    thinks = (Profile(name="standard", description="everything", takes_reasoning=True),)
    assert (await Router(Unreachable(), thinks).decide(ASKED)).by == "model"


def test_a_route_of_a_profile_that_is_gone_is_the_standard_one() -> None:
    router = Router(Unreachable(), ONE_PROFILE)
    assert router.profile(read_route(answer(), NAMES, USAGE)) is ONE_PROFILE[0]
    assert Router(Unreachable()).profile(read_route(answer(), NAMES, USAGE)) is DEFAULT_PROFILES[2]


def standard(**changes: Any) -> Profile:
    return Profile(**{"name": "standard", "description": "everything", **changes})


@pytest.mark.parametrize(
    ("profiles", "told"),
    [
        ((), "no profile 'standard'"),
        ((standard(name="other"),), "no profile 'standard'"),
        ((standard(), standard()), "'standard' is there twice"),
        ((standard(), *(standard(name=f"p{n}") for n in range(MOST_PROFILES))), "there are 9 profiles"),
    ],
)
def test_profiles_that_do_not_fit_together_are_refused(profiles: tuple[Profile, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        check_profiles(profiles)


@pytest.mark.parametrize(
    "changes", [{"name": ""}, {"name": "a b"}, {"name": "ä"}, {"description": " "}, {"description": "a\nb"},
                {"description": "<b>"}, {"description": "x" * 200}, {"max_tokens": 0}]
)  # fmt: skip
def test_a_profile_that_cannot_be_told_of_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="profile"):
        standard(**changes)


@settings(derandomize=True, database=None, deadline=None)
@given(st.text(max_size=5000))
def test_what_is_asked_is_one_line_of_the_question(asked: str) -> None:
    messages = route_prompt(asked, {name: "something" for name in NAMES})
    assert "\n" not in messages[-1].content
    assert len(messages[-1].content) <= 600 * 5
    assert [each.role for each in messages] == ["system", *["user", "assistant"] * 6, "user"]


def test_the_examples_are_answers_of_the_schema_and_of_profiles_that_there_are() -> None:
    schema: Any = route_answer(NAMES)
    answers = [json.loads(m.content) for m in route_prompt("x", dict.fromkeys(NAMES, "y")) if m.role == "assistant"]
    for each in answers:
        assert list(each) == list(schema["properties"]) == schema["required"]
        assert read_route(json.dumps(each), NAMES, USAGE).profile == each["profile"]
    few = [json.loads(m.content) for m in route_prompt("x", {"standard": "y"}) if m.role == "assistant"]
    assert {each["profile"] for each in few} == {"standard"}
