"""Bosun's public decision functions, called as a turn calls them: with the trial's model, its time and its steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from bosun.model.client import ModelClient
from bosun.model.guardian import Guardian, Proposal
from bosun.model.options import ModelOptions
from bosun.model.router import RouteProposal, Router
from bosun.steps import Step
from bosun.tools import Effect, Touches
from bosun_binding.seams import HarnessSteps
from seatrial.binding import InputRefused, World
from seatrial.inputs import DEFAULT_AUTHOR

KINDS = ("guardian", "router")


class _RouteWords(BaseModel):
    """What a test says of a turn that is to be routed."""

    model_config = ConfigDict(extra="forbid")

    asked: str


class _ProposalWords(BaseModel):
    """What a test says of a call that is to be reviewed."""

    model_config = ConfigDict(extra="forbid")

    asked: str
    tool: str
    plugin: str = "invented"
    effect: Effect
    touches: Touches = "other"
    arguments: dict[str, JsonValue]


Words = TypeVar("Words", bound=BaseModel)


class Decisions:
    """Calls the functions, and reports what a turn reports once it has stored a decision."""

    def __init__(self, model: ModelClient, steps: HarnessSteps) -> None:
        self._guardian = Guardian(model)
        self._router = Router(model)
        self._steps = steps

    async def decide(self, kind: str, proposal: Mapping[str, Any], *, conversation_id: str) -> Mapping[str, Any]:
        """Return what is decided, without what it cost. Raises InputRefused for what is no decision of Bosun's."""
        if kind == "guardian":
            told = dict(_read(_ProposalWords, proposal))
            proposed = Proposal(**told, actor_id=DEFAULT_AUTHOR, conversation_id=conversation_id)
            decision = await self._guardian.decide(proposed)
            fields = {"tool": proposed.tool, "decision": decision.decision}
            self._steps.emit(Step("guardian.reviewed", conversation_id, {**fields}))
            return _answer(decision)
        if kind == "router":
            asked = _read(_RouteWords, proposal).asked
            route = await self._router.decide(RouteProposal(asked=asked, conversation_id=conversation_id))
            fields = {"profile": route.profile, "reasoning": route.reasoning, "by": route.by}
            self._steps.emit(Step("turn.routed", conversation_id, {**fields}))
            return _answer(route)
        raise InputRefused(f"Bosun's decisions are: {', '.join(KINDS)}")


@asynccontextmanager
async def deciding(world: World) -> AsyncIterator[Decisions]:
    """Make the decision functions of a world; their connections are closed at the end."""
    steps = HarnessSteps(world)
    model = ModelClient(ModelOptions(base_url=world.model_url), timer=world.timer, steps=steps)
    try:
        yield Decisions(model, steps)
    finally:
        await model.close()


def _read(kind: type[Words], told: Mapping[str, Any]) -> Words:
    try:
        return kind.model_validate(dict(told))
    except ValidationError as error:
        wrong = "; ".join(f"'{'.'.join(map(str, each['loc']))}': {each['msg']}" for each in error.errors())
        raise InputRefused(wrong) from error


def _answer(decision: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(decision).items() if name != "usage"}
