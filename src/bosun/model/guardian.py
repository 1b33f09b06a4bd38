"""The guardian: decides about one exact call of a tool, after its arguments were checked and before it is made.

A public function of Bosun: a turn asks it, and so may anybody who wants to know what it would say. Rules come first;
what no rule allows, a small model call reviews, and without a review nothing that needs one is done.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from bosun.context.reviewing import ANSWER, review_prompt
from bosun.log.events import DecidedBy, ReviewDecision, Risk, TokenUsage
from bosun.model.client import Model, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.tool_arguments import JSON
from bosun.tools import Effect, Touches


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """One call as it would be made: which tool of which plugin, with which arguments, for whom, and after what words.

    ``asked`` is what the person said that the turn answers.
    """

    tool: str
    plugin: str
    effect: Effect
    touches: Touches
    arguments: Mapping[str, JSON]
    actor_id: str
    conversation_id: str
    asked: str


@dataclass(frozen=True)
class Decision:
    """What was decided, how much is at stake, why, and who decided. Only `allow` lets the call be made."""

    decision: ReviewDecision
    risk: Risk
    reason: str
    by: DecidedBy
    usage: TokenUsage = field(default_factory=TokenUsage)


READS: Final = Decision("allow", "low", "it only reads", "rule")
OWN_MEMORY: Final = Decision("allow", "low", "it changes only what is kept for the person who asks", "rule")
CONVERSATION: Final = Decision("allow", "low", "it says something in the conversation that it is made in", "rule")
UNREVIEWED: Final = "no review is available"
"""Why a call is denied that the model could not be asked about, or about which it answered something else."""

REVIEW_TOKENS: Final = 90


def by_rule(effect: Effect, touches: Touches) -> Decision | None:
    """Return what the rules say of a call, or None where they say nothing: then it has to be reviewed."""
    if effect == "read":
        return READS
    if effect == "write" and touches == "own_memory":
        return OWN_MEMORY
    if effect == "write" and touches == "conversation":
        return CONVERSATION
    return None


def risk_of(effect: Effect) -> Risk:
    """Return how much is at stake at most, by what a tool says of itself."""
    risks: dict[Effect, Risk] = {"read": "low", "write": "medium"}
    return risks.get(effect, "high")


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    reason: str
    decision: ReviewDecision
    risk: Risk


class Guardian:
    """Decides by rule, and asks a model about what no rule allows. It fails closed."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def decide(self, proposal: Proposal) -> Decision:
        """Return what is decided about the call. Never raises for a model that fails or answers something else."""
        return by_rule(proposal.effect, proposal.touches) or await self._reviewed(proposal)

    async def _reviewed(self, proposal: Proposal) -> Decision:
        unreviewed = Decision("deny", risk_of(proposal.effect), UNREVIEWED, "rule")
        request = ModelRequest(
            role="guardian",
            conversation_id=proposal.conversation_id,
            messages=review_prompt(proposal.asked, proposal.tool, proposal.effect, proposal.arguments),
            max_tokens=REVIEW_TOKENS,
            temperature=0.0,
            answer=ANSWER,
        )
        try:
            answer = await self._model.complete(request)
        except ModelFailure as failure:
            logging.getLogger("bosun.model").warning("a call of %s could not be reviewed: %s", proposal.tool, failure)
            return unreviewed
        try:
            read = _Answer.model_validate_json(answer.text)
        except ValidationError:
            return replace(unreviewed, usage=answer.usage)
        return Decision(read.decision, read.risk, read.reason.strip() or "it says no reason", "model", answer.usage)
