"""The router: decides how a turn is thought about before it thinks.

A public function of Bosun: a turn asks it, and so may anybody who wants to know what it would say. Where nothing is to
be chosen a rule decides; otherwise a small model call does, and a doubt is the standard profile with medium reasoning.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bosun.context.routing import route_answer, route_prompt
from bosun.log.events import DecidedBy, TokenUsage
from bosun.model.client import Model, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.model.profiles import DEFAULT_PROFILES, STANDARD, Profile, Reasoning, check_profiles

LEAST_CONFIDENCE: Final = 0.75
DECISION_TOKENS: Final = 80


@dataclass(frozen=True, kw_only=True)
class RouteProposal:
    """What a turn is about to answer, and where."""

    asked: str
    conversation_id: str


@dataclass(frozen=True, kw_only=True)
class Route:
    """How the turn is thought about, how sure that is, why, and who decided."""

    profile: str
    reasoning: Reasoning
    confidence: float
    reason: str
    by: DecidedBy
    usage: TokenUsage = field(default_factory=TokenUsage)


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    profile: str
    reasoning: Literal["low", "medium", "high"]
    confidence: float = Field(ge=0, le=1)
    reason: str


class Router:
    """Routes turns among the profiles of one app. Raises `ValueError` for profiles that do not fit together."""

    def __init__(self, model: Model, profiles: Sequence[Profile] = DEFAULT_PROFILES) -> None:
        self._model = model
        self._profiles = {profile.name: profile for profile in check_profiles(profiles)}

    def profile(self, route: Route) -> Profile:
        """Return the profile of a route: the standard one where this app has the route's no longer."""
        return self._profiles.get(route.profile, self._profiles[STANDARD])

    async def decide(self, proposal: RouteProposal) -> Route:
        """Return the route of a turn.

        Never raises for a model that fails or answers something else: then the turn has the standard one.
        """
        if len(self._profiles) == 1 and not self._profiles[STANDARD].takes_reasoning:
            return standard_route("there is nothing to choose", by="rule", confidence=1.0)
        request = ModelRequest(
            role="router",
            conversation_id=proposal.conversation_id,
            messages=route_prompt(proposal.asked, {each.name: each.description for each in self._profiles.values()}),
            max_tokens=DECISION_TOKENS,
            temperature=0.0,
            answer=route_answer(tuple(self._profiles)),
        )
        try:
            answer = await self._model.complete(request)
        except ModelFailure as failure:
            logging.getLogger("bosun.model").warning("how to think could not be asked: %s", failure)
            return standard_route("the model could not be asked")
        return read_route(answer.text, tuple(self._profiles), answer.usage)


def standard_route(
    reason: str, *, by: DecidedBy = "model", confidence: float = 0.0, usage: TokenUsage | None = None
) -> Route:
    """Return the route of a turn that no decision is sure about."""
    return Route(
        profile=STANDARD, reasoning="medium", confidence=confidence, reason=reason, by=by, usage=usage or TokenUsage()
    )


def read_route(text: str, profiles: Sequence[str], usage: TokenUsage) -> Route:
    """Return what a model's answer comes to: below the least confidence, or unreadable, it is the standard route."""
    try:
        answer = _Answer.model_validate_json(text)
    except ValidationError:
        return standard_route("the model's answer cannot be read", usage=usage)
    if answer.profile not in profiles:
        return standard_route("the model chose a profile that there is not", usage=usage)
    if answer.confidence < LEAST_CONFIDENCE:
        return standard_route("the model is not sure enough", confidence=answer.confidence, usage=usage)
    return Route(
        profile=answer.profile,
        reasoning=answer.reasoning,
        confidence=answer.confidence,
        reason=answer.reason,
        by="model",
        usage=usage,
    )
