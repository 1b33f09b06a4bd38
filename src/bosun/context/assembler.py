"""The assembler: builds the whole prompt of a request, for every host and every source alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bosun.clock import CalendarPolicy, Clock
from bosun.context.blocks import Block, account_block, actor_block, fact_block, summary_block, time_block
from bosun.context.policy import HANDOFF_NOTE, LONGEST_TITLED, POLICY, TITLE_POLICY
from bosun.context.prompt import Prompt, PromptMessage
from bosun.context.sources import SnapshotSource
from bosun.log.messages import HistoryMessage
from bosun.recall import Recall, RecallQuery
from bosun.steps import JSON, Step, StepSink


@dataclass(frozen=True, kw_only=True)
class ContextRequest:
    """For whom and in which conversation a prompt is built.

    `asked` is the text of the messages to be answered, `history` the model's stream with them, oldest first.
    """

    conversation_id: str
    account_id: str
    actor_id: str
    actor_name: str
    asked: str
    history: Sequence[HistoryMessage]


class ContextAssembler:
    """Builds prompts from a snapshot source, what is recalled, a clock and a calendar."""

    def __init__(
        self,
        source: SnapshotSource,
        *,
        clock: Clock,
        calendar: CalendarPolicy,
        stale_after: timedelta,
        steps: StepSink,
        recalls: Sequence[Recall] = (),
    ) -> None:
        self._source = source
        self._clock = clock
        self._calendar = calendar
        self._stale_after = stale_after
        self._steps = steps
        self._recalls = tuple(recalls)

    async def build(self, request: ContextRequest) -> Prompt:
        """Load the account and render the prompt. Raises what the source raises (`AccountUnknown`)."""
        snapshot = await self._source.load(request.account_id)
        self._emit("context.loaded", request, accountId=request.account_id)
        now = self._clock.now()
        blocks = (
            account_block(snapshot, now, self._calendar, self._stale_after),
            actor_block(request.actor_name),
            time_block(now, self._calendar),
            *(summary_block(message.text) for message in request.history[:1] if message.role == "summary"),
            *await self._recalled(request),
        )
        system = "\n".join((POLICY, *(block.render() for block in blocks)))
        prompt = Prompt(
            messages=(PromptMessage("system", system), *_spoken(request.history)),
            blocks=tuple(block.name for block in blocks),
        )
        self._emit("context.rendered", request, blocks=[*prompt.blocks])
        return prompt

    async def _recalled(self, request: ContextRequest) -> list[Block]:
        query = RecallQuery(account_id=request.account_id, actor_id=request.actor_id, text=request.asked)
        found = [await source.recall(query) for source in self._recalls]
        return [fact_block(facts) for facts in found if facts is not None and facts.lines]

    def _emit(self, name: str, request: ContextRequest, **fields: JSON) -> None:
        self._steps.emit(Step(name, request.conversation_id, fields))


def _spoken(history: Sequence[HistoryMessage]) -> tuple[PromptMessage, ...]:
    """Return the messages. A summary that stands first is a block, one behind what was asked says what was done."""
    return tuple(
        PromptMessage("user", f"{HANDOFF_NOTE}\n{message.text}")
        if message.role == "summary"
        else PromptMessage(message.role, message.text, message.calls, message.call_id)
        for place, message in enumerate(history)
        if place or message.role != "summary"
    )


def title_prompt(first_message: str) -> tuple[PromptMessage, ...]:
    """Return the words that ask for a conversation's title; they need no account."""
    return (PromptMessage("system", TITLE_POLICY), PromptMessage("user", first_message[:LONGEST_TITLED]))
