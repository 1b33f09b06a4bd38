"""The reply policy's decision: rules without a model, the model where they are not sure, and no where it is not."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from conftest import START

from bosun.contracts import contract_versions
from bosun.log.events import NO_REPLY, TokenUsage
from bosun.log.messages import HistoryMessage, InboundMessage
from bosun.log.overhearing import ReplyDecision
from bosun.model.client import ModelAnswer, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.model.reply_policy import ReplyPolicy

pytestmark = pytest.mark.asyncio

RECENT = (
    HistoryMessage(role="user", text="When is the release?", author="Morgan"),
    HistoryMessage(role="assistant", text="On <Thursday>."),
    HistoryMessage(role="tool", text="A result.", call_id="c"),
    HistoryMessage(role="assistant", text=NO_REPLY),
)
USAGE = TokenUsage(input_tokens=3)


@dataclass
class OneAnswer:
    """A model that says one thing, and keeps what it was asked."""

    text: str = ""
    failure: ModelFailure | None = None
    asked: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Say it."""
        self.asked.append(request)
        if self.failure is not None:
            raise self.failure
        return ModelAnswer(text=self.text, finish_reason="stop", usage=USAGE)


def said(*texts: str) -> list[InboundMessage]:
    """Return messages of Eve's that are not said to Bosun."""
    return [
        InboundMessage(id=str(n), actor_id="eve", author="Eve", text=text, received_at=START, addressed=False)
        for n, text in enumerate(texts)
    ]


async def decided(model: OneAnswer, *texts: str) -> ReplyDecision:
    """Return what is decided about Eve's messages."""
    return await ReplyPolicy(model).decide(said(*texts), RECENT, conversation_id="slack:C1:1.1")


@pytest.mark.parametrize(
    ("texts", "reply", "unsubscribe"),
    [
        (("why?",), True, False),
        (("ok", "and Monday?"), True, False),
        (("Bosun, what is in it?",), True, False),
        (("thanks!",), False, False),
        (("@Priya could you?", "thanks"), False, False),
        (("Bosun, be quiet",), False, True),
    ],
)
async def test_what_a_rule_is_sure_of_asks_no_model(texts: tuple[str, ...], reply: bool, unsubscribe: bool) -> None:
    """It costs nothing, and is the same every time."""
    model = OneAnswer()
    decision = await decided(model, *texts)
    assert (decision.reply, decision.unsubscribe, decision.by) == (reply, unsubscribe, "rule")
    assert model.asked == []


@pytest.mark.parametrize(
    ("answer", "reply", "unsubscribe"),
    [
        ('{"should_reply": true, "should_unsubscribe": false, "confidence": 0.75}', True, False),
        ('{"should_reply": true, "should_unsubscribe": false, "confidence": 0.74}', False, False),
        ('{"should_reply": false, "should_unsubscribe": false, "confidence": 1}', False, False),
        ('{"should_reply": false, "should_unsubscribe": true, "confidence": 0.9}', False, True),
        ('{"should_reply": true, "should_unsubscribe": true, "confidence": 0.9}', False, False),
        ('{"should_reply": false, "should_unsubscribe": true, "confidence": 0.5}', False, False),
        ('{"should_reply": "yes", "should_unsubscribe": false, "confidence": 1}', False, False),
        ('{"should_reply": true, "confidence": 1}', False, False),
        ('{"should_reply": true, "should_unsubscribe": false, "confidence": 7}', False, False),
        ("I think so", False, False),
        ("", False, False),
    ],
)
async def test_the_model_decides_the_rest_and_a_doubt_is_a_no(answer: str, reply: bool, unsubscribe: bool) -> None:
    """Below the least confidence, in contradiction with itself, or in other words than were asked for."""
    decision = await decided(OneAnswer(answer), "Who has to approve the release of it?")
    assert (decision.reply, decision.unsubscribe, decision.by) == (reply, unsubscribe, "model")
    assert decision.usage == USAGE


async def test_a_model_that_fails_is_a_no() -> None:
    """Silence hurts nobody; an answer that nobody asked for does."""
    decision = await decided(OneAnswer(failure=ModelFailure("capacity", "busy")), "Who has to approve the release?")
    assert (decision.reply, decision.unsubscribe, decision.by) == (False, False, "model")


async def test_the_question_is_a_short_job_at_temperature_zero() -> None:
    """With what was said before, as people read it, and the answer's schema; the batch stands out."""
    model = OneAnswer("{}")
    await decided(model, "I asked her", "Who has to <approve> the release?")
    (request,) = model.asked
    assert (request.role, request.conversation_id, request.temperature) == ("reply_policy", "slack:C1:1.1", 0.0)
    assert request.answer is not None and request.max_tokens is not None and request.tools == ()
    assert request.messages[-1].content == (
        "Morgan: When is the release?\nBosun: On &lt;Thursday&gt;.\n"
        ">> Eve: I asked her\n>> Eve: Who has to &lt;approve&gt; the release?"
    )


async def test_the_words_have_a_version_where_slack_is_composed() -> None:
    """And an app without Slack does not have them."""
    assert contract_versions(slack=True) == {**contract_versions(), "decision.reply_policy": 1}
