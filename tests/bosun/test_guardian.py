"""The guardian's rules: the whole table of effects and what a call would touch."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from bosun.model.guardian import Decision, Guardian, Proposal
from bosun.tools import Effect, Touches

READ = ("allow", "low", "it only reads", "rule")
OWN = ("allow", "low", "it changes only what is kept for the person who asks", "rule")
SAYS = ("allow", "low", "it says something in the conversation that it is made in", "rule")
UNREVIEWED = "no review is available"

TABLE: dict[tuple[Effect, Touches], tuple[str, str, str, str]] = {
    ("read", "own_memory"): READ,
    ("read", "conversation"): READ,
    ("read", "other"): READ,
    ("write", "own_memory"): OWN,
    ("write", "conversation"): SAYS,
    ("write", "other"): ("deny", "medium", UNREVIEWED, "rule"),
    ("external", "own_memory"): ("deny", "high", UNREVIEWED, "rule"),
    ("external", "conversation"): ("deny", "high", UNREVIEWED, "rule"),
    ("external", "other"): ("deny", "high", UNREVIEWED, "rule"),
    ("destructive", "own_memory"): ("deny", "high", UNREVIEWED, "rule"),
    ("destructive", "conversation"): ("deny", "high", UNREVIEWED, "rule"),
    ("destructive", "other"): ("deny", "high", UNREVIEWED, "rule"),
}


def test_the_table_is_complete() -> None:
    """Every effect with everything that it may touch."""
    assert set(TABLE) == set(product(get_args(Effect), get_args(Touches)))


@pytest.mark.parametrize(("effect", "touches"), TABLE)
@pytest.mark.asyncio
async def test_what_no_rule_allows_is_denied(effect: Effect, touches: Touches) -> None:
    """There is no review that could allow it."""
    proposal = Proposal(
        tool="look",
        plugin="invented",
        effect=effect,
        touches=touches,
        arguments={"at": 1},
        actor_id="morgan",
        conversation_id="web:c",
    )
    decision = await Guardian().decide(proposal)
    assert isinstance(decision, Decision)
    assert (decision.decision, decision.risk, decision.reason, decision.by) == TABLE[effect, touches]
