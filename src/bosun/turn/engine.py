"""The engine: one turn for one batch.

It starts the turn, thinks within the deadline, and hands the outcome to the delivery.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from bosun.context.assembler import ContextAssembler, ContextRequest
from bosun.limits import Limits
from bosun.log.events import TokenUsage
from bosun.log.messages import InboundMessage, Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.log.writing import ConversationUnknown
from bosun.model.client import Model, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.stores.faults import STORE_AWAY
from bosun.timer import DeadlinePassed, Timer, within
from bosun.turn.delivery import WebDelivery
from bosun.turn.lifecycle import Answered, Failed, Outcome, Silent, read_answer


class TurnEngine:
    """Runs turns. Raises only when a store is away: everything else is an outcome that people see."""

    def __init__(
        self,
        *,
        log: ConversationLog,
        reader: ConversationReader,
        assembler: ContextAssembler,
        model: Model,
        delivery: WebDelivery,
        timer: Timer,
        limits: Limits,
        contracts: Mapping[str, int],
    ) -> None:
        self._log = log
        self._reader = reader
        self._assembler = assembler
        self._model = model
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
            thinking = self._think(turn, batch[-1].author, usage)
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
        await self._delivery.end(turn, outcome, usage)

    async def give_up(self, conversation_id: str, batch: Sequence[InboundMessage]) -> None:
        """Fail the turn of a batch that crashed too often."""
        turn = await self._log.start_turn(conversation_id, batch)
        await self._delivery.end(turn, Failed("unknown"), {})

    async def _think(self, turn: Turn, actor_name: str, usage: dict[str, TokenUsage]) -> Answered | Silent:
        request = await self._request(turn, actor_name)
        for _ in range(2):  # an empty answer is asked for once more
            answer = await self._model.complete(request)
            usage[request.role] = usage.get(request.role, TokenUsage()) + answer.usage
            outcome = read_answer(answer.text)
            if outcome is not None:
                return outcome
        raise ModelFailure("invalid_response", "the model answered nothing, twice")

    async def _request(self, turn: Turn, actor_name: str) -> ModelRequest:
        conversation = await self._reader.conversation(turn.conversation_id)
        if conversation is None:
            raise ConversationUnknown(turn.conversation_id)
        prompt = await self._assembler.build(
            ContextRequest(
                conversation_id=turn.conversation_id,
                account_id=conversation.account_id,
                actor_name=actor_name,
                history=await self._reader.history(turn.conversation_id),
            )
        )
        await self._log.record_context(turn, 1, prompt.blocks, self._contracts)
        return ModelRequest(role="agent", conversation_id=turn.conversation_id, messages=prompt.messages)
