"""The guardian's rules: the whole table of effects and what a call would touch; and that it fails closed."""

from __future__ import annotations

import json
from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turn_bench import Unreachable

from bosun.context.reviewing import ANSWER, review_prompt
from bosun.model.guardian import UNREVIEWED, Decision, Guardian, Proposal, by_rule, risk_of
from bosun.tools import Effect, Touches

READ = ("allow", "low", "it only reads", "rule")
OWN = ("allow", "low", "it changes only what is kept for the person who asks", "rule")
SAYS = ("allow", "low", "it says something in the conversation that it is made in", "rule")

TABLE: dict[tuple[Effect, Touches], tuple[str, str, str, str] | None] = {
    ("read", "own_memory"): READ,
    ("read", "conversation"): READ,
    ("read", "other"): READ,
    ("write", "own_memory"): OWN,
    ("write", "conversation"): SAYS,
    ("write", "other"): None,
    ("external", "own_memory"): None,
    ("external", "conversation"): None,
    ("external", "other"): None,
    ("destructive", "own_memory"): None,
    ("destructive", "conversation"): None,
    ("destructive", "other"): None,
}
RISKS = {"read": "low", "write": "medium", "external": "high", "destructive": "high"}


def proposal(effect: Effect, touches: Touches) -> Proposal:
    return Proposal(
        tool="look",
        plugin="invented",
        effect=effect,
        touches=touches,
        arguments={"at": 1},
        actor_id="morgan",
        conversation_id="web:c",
        asked="Look.",
    )


def test_the_table_is_complete() -> None:
    """Every effect with everything that it may touch."""
    assert set(TABLE) == set(product(get_args(Effect), get_args(Touches)))
    assert set(RISKS) == set(get_args(Effect))


@pytest.mark.parametrize(("effect", "touches"), TABLE)
async def test_what_no_rule_allows_is_denied_when_no_review_can_be_had(effect: Effect, touches: Touches) -> None:
    decision = await Guardian(Unreachable()).decide(proposal(effect, touches))
    assert isinstance(decision, Decision)
    ruled = TABLE[effect, touches]
    expected = ruled or ("deny", RISKS[effect], UNREVIEWED, "rule")
    assert (decision.decision, decision.risk, decision.reason, decision.by) == expected
    assert (by_rule(effect, touches) is None) == (ruled is None)
    assert risk_of(effect) == RISKS[effect]


@settings(derandomize=True, database=None, deadline=None)
@given(
    asked=st.text(max_size=2000),
    arguments=st.dictionaries(st.text(max_size=20), st.text(max_size=2000) | st.integers() | st.none(), max_size=5),
)
def test_whatever_is_asked_and_proposed_the_question_has_three_lines(asked: str, arguments: dict[str, object]) -> None:
    """So that neither can pass for another line, or for an answer."""
    question = review_prompt(asked, "look", "external", arguments)[-1].content  # type: ignore[arg-type]
    lines = question.split("\n")
    assert [line.partition(":")[0] for line in lines] == ["call", "arguments", "asked"]
    assert lines[0] == "call: look (external)"
    assert len(question) < 12_000
    assert "<" not in question


def test_the_examples_are_answers_of_the_schema() -> None:
    properties = ANSWER["properties"]
    assert isinstance(properties, dict)
    answers = [json.loads(each.content) for each in review_prompt("x", "look", "read", {}) if each.role == "assistant"]
    assert answers
    for answer in answers:
        assert list(answer) == list(properties)
        assert answer["decision"] in ("allow", "ask", "deny")
        assert answer["risk"] in ("low", "medium", "high")
        assert len(answer["reason"]) <= 80
    assert {answer["decision"] for answer in answers} == {"allow", "ask", "deny"}
