"""The reply policy: whether Bosun answers what was said in its hearing and not to it.

A public function of Bosun: the worker asks it before it makes a turn, and so may anybody who wants to know what it
would say. Rules come first; what no rule is sure of, a small model call decides, and a doubt is a no.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bosun.context.listening import ANSWER, is_said, reply_prompt
from bosun.log.events import TokenUsage
from bosun.log.messages import HistoryMessage, InboundMessage
from bosun.log.overhearing import ReplyDecision
from bosun.model.client import Model, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.model.reply_rules import Said, Verdict, judge, together

LEAST_CONFIDENCE: Final = 0.75
DECISION_TOKENS: Final = 60

BY_RULE: Final[Mapping[Verdict, ReplyDecision]] = {
    "opt_out": ReplyDecision(reply=False, unsubscribe=True, by="rule", reason="Bosun is to stay out"),
    "acknowledged": ReplyDecision(reply=False, by="rule", reason="it only acknowledges"),
    "to_somebody_else": ReplyDecision(reply=False, by="rule", reason="it is said to somebody else"),
    "by_name": ReplyDecision(reply=True, by="rule", reason="it calls Bosun by its name"),
    "clarification": ReplyDecision(reply=True, by="rule", reason="it asks about what Bosun has just said"),
    "answer": ReplyDecision(reply=True, by="rule", reason="it answers what Bosun has just asked"),
}


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    should_reply: bool
    should_unsubscribe: bool
    confidence: float = Field(ge=0, le=1)


class ReplyPolicy:
    """Decides by rules, and asks a model where they are not sure."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def decide(
        self, batch: Sequence[InboundMessage], recent: Sequence[HistoryMessage], *, conversation_id: str
    ) -> ReplyDecision:
        """Return what is decided about one person's messages in a row, after what was said before them.

        Never raises for a model that fails or answers something else: then there is no reply.
        """
        verdict = by_rules(batch, recent)
        if verdict is not None:
            return BY_RULE[verdict]
        request = ModelRequest(
            role="reply_policy",
            conversation_id=conversation_id,
            messages=reply_prompt(batch, recent),
            max_tokens=DECISION_TOKENS,
            temperature=0.0,
            answer=ANSWER,
        )
        try:
            answer = await self._model.complete(request)
        except ModelFailure as failure:
            logging.getLogger("bosun.model").warning("whether to reply could not be asked: %s", failure)
            return ReplyDecision(reply=False, by="model", reason="the model could not be asked")
        return read_decision(answer.text, answer.usage)


def by_rules(batch: Sequence[InboundMessage], recent: Sequence[HistoryMessage]) -> Verdict | None:
    """Return what the rules come to, or None where they are not sure."""
    before: Said | None = None
    for each in recent:
        if is_said(each):
            before = Said(each.role == "assistant", each.text)
    people = {each.author for each in recent if each.author is not None}
    verdicts: list[Verdict | None] = []
    for message in batch:
        verdicts.append(judge(message.spoken, before, people))
        if verdicts[-1] != "acknowledged":
            before = Said(False, message.spoken)
    return together(verdicts)


def read_decision(text: str, usage: TokenUsage) -> ReplyDecision:
    """Return what a classifier's answer comes to: below the least confidence, or unreadable, it is a no."""
    try:
        answer = _Answer.model_validate_json(text)
    except ValidationError:
        return ReplyDecision(reply=False, by="model", reason="the model's answer cannot be read", usage=usage)
    if answer.confidence < LEAST_CONFIDENCE:
        return ReplyDecision(reply=False, by="model", reason="the model is not sure enough", usage=usage)
    if answer.should_unsubscribe and answer.should_reply:
        return ReplyDecision(reply=False, by="model", reason="the model contradicts itself", usage=usage)
    if answer.should_unsubscribe:
        reason = "Bosun is to stay out, the model says"
        return ReplyDecision(reply=False, unsubscribe=True, by="model", reason=reason, usage=usage)
    reason = "it is for Bosun, the model says" if answer.should_reply else "it is not for Bosun, the model says"
    return ReplyDecision(reply=answer.should_reply, by="model", reason=reason, usage=usage)
