"""The engine: one turn for one batch.

It starts the turn, thinks within the deadline (requests and tool calls, until an answer asks for none), and hands the
outcome to the delivery.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from bosun.context.assembler import ContextAssembler, ContextRequest
from bosun.limits import Limits
from bosun.log.events import TokenUsage
from bosun.log.messages import ConversationRecord, InboundMessage, Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.log.writing import ConversationUnknown
from bosun.model.client import Model, ModelAnswer, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.stores.faults import STORE_AWAY
from bosun.timer import DeadlinePassed, Timer, heed_cancellation, within
from bosun.tool_arguments import JSON
from bosun.turn.delivery import WebDelivery
from bosun.turn.lifecycle import Answered, Failed, Outcome, Silent, read_answer
from bosun.turn.tool_calls import ToolCalls


class TurnEngine:
    """Runs turns. Raises only when a store is away: everything else is an outcome that people see."""

    def __init__(
        self,
        *,
        log: ConversationLog,
        reader: ConversationReader,
        assembler: ContextAssembler,
        model: Model,
        tools: ToolCalls,
        delivery: WebDelivery,
        timer: Timer,
        limits: Limits,
        contracts: Mapping[str, int],
    ) -> None:
        self._log = log
        self._reader = reader
        self._assembler = assembler
        self._model = model
        self._tools = tools
        self._delivery = delivery
        self._timer = timer
        self._limits = limits
        self._contracts = contracts
        self._logger = logging.getLogger("bosun.turn")

    async def run(self, conversation_id: str, batch: Sequence[InboundMessage]) -> None:
        """Answer the batch.

        The deadline bounds the thinking; an answer that is there is committed, however late it is.
        """
        turn = await self._log.start_turn(conversation_id, batch)
        usage: dict[str, TokenUsage] = {}
        outcome: Outcome
        try:
            thinking = self._think(turn, batch, usage)
            outcome = await within(self._timer, self._limits.turn_timeout_seconds, thinking)
        except DeadlinePassed:
            outcome = Failed("timeout")
        except ModelFailure as failure:
            self._logger.warning("turn %s fails: %s", turn.id, failure)
            outcome = Failed(failure.kind)
        except STORE_AWAY:
            raise
        except Exception:
            self._logger.exception("turn %s fails", turn.id)
            outcome = Failed("unknown")
        await self._end(turn, outcome, usage)

    async def give_up(self, conversation_id: str, batch: Sequence[InboundMessage]) -> None:
        """Fail the turn of a batch that crashed too often."""
        turn = await self._log.start_turn(conversation_id, batch)
        await self._end(turn, Failed("unknown"), {})

    async def _end(self, turn: Turn, outcome: Outcome, usage: dict[str, TokenUsage]) -> None:
        if isinstance(outcome, Failed):
            await self._tools.abandon(turn)
        await self._delivery.end(turn, outcome, usage)

    async def _think(
        self, turn: Turn, batch: Sequence[InboundMessage], usage: dict[str, TokenUsage]
    ) -> Answered | Silent:
        """Ask and make the calls that are asked for, until an answer asks for none.

        Where the turn stands is read from the log each time, so that a turn that a crash left open goes on there.
        """
        conversation = await self._reader.conversation(turn.conversation_id)
        if conversation is None:
            raise ConversationUnknown(turn.conversation_id)
        while True:
            heed_cancellation()
            progress = await self._tools.settle(turn, conversation.account_id)
            number = len(progress.answers) + 1
            request = await self._request(turn, conversation, batch, number, self._tools.offered(progress))
            answer = await self._answer(request, usage)
            if request.tools and answer.calls:
                await self._log.record_calls(turn, number, answer.text, answer.calls)
                continue
            outcome = read_answer(answer.text)
            assert outcome is not None
            return outcome

    async def _answer(self, request: ModelRequest, usage: dict[str, TokenUsage]) -> ModelAnswer:
        """Return an answer with something in it: calls of what was offered, or words."""
        for _ in range(2):  # an empty answer is asked for once more
            answer = await self._model.complete(request)
            usage[request.role] = usage.get(request.role, TokenUsage()) + answer.usage
            if (request.tools and answer.calls) or read_answer(answer.text) is not None:
                return answer
        raise ModelFailure("invalid_response", "the model answered nothing, twice")

    async def _request(
        self,
        turn: Turn,
        conversation: ConversationRecord,
        batch: Sequence[InboundMessage],
        number: int,
        tools: tuple[Mapping[str, JSON], ...],
    ) -> ModelRequest:
        prompt = await self._assembler.build(
            ContextRequest(
                conversation_id=turn.conversation_id,
                account_id=conversation.account_id,
                actor_id=turn.actor_id,
                actor_name=batch[-1].author,
                asked="\n".join(message.text for message in batch),
                history=await self._reader.history(turn.conversation_id),
            )
        )
        await self._log.record_context(turn, number, prompt.blocks, self._contracts)
        return ModelRequest(role="agent", conversation_id=turn.conversation_id, messages=prompt.messages, tools=tools)
