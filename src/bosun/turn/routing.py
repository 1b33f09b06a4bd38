"""Which way the words of a turn leave: the way on which its messages came.

A message that a person wrote on the web gets its reply on the web, wherever else the conversation is visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bosun.log.events import DeliveryStarted
from bosun.log.messages import InboundMessage, Turn
from bosun.log.store import Usage
from bosun.turn.delivery import Delivery
from bosun.turn.lifecycle import Outcome


class RoutedDelivery:
    """Hands each turn to the delivery of its source; a source without one has its replies on the web."""

    def __init__(self, web: Delivery, others: Mapping[str, Delivery]) -> None:
        self._web = web
        self._others = others

    async def begin(self, turn: Turn) -> None:
        """Show people, where that can be shown, that the turn runs."""
        await self._of(turn.source).begin(turn)

    async def resume(self, turn: Turn) -> DeliveryStarted | None:
        """End the turn by the delivery that an earlier attempt began. Return None where none did."""
        return await self._of(turn.source).resume(turn)

    async def end(self, turn: Turn, outcome: Outcome, usage: Usage) -> None:
        """End the turn with this outcome, unless another attempt has ended it already."""
        await self._of(turn.source).end(turn, outcome, usage)

    async def stop(
        self, conversation_id: str, turn: Turn | None, messages: Sequence[InboundMessage], usage: Usage
    ) -> None:
        """End the open turn and discard what waits, where any of it came from that is not on the web."""
        sources = (
            [message.source for message in messages] if turn is None else [turn.source, *(m.source for m in messages)]
        )
        elsewhere = [source for source in sources if source in self._others]
        await self._of(elsewhere[0] if elsewhere else "").stop(conversation_id, turn, messages, usage)

    async def pause(self, turn: Turn, number: int, usage: Usage) -> None:
        """Say that the turn's n-th slice is over, and the turn is not."""
        await self._of(turn.source).pause(turn, number, usage)

    def _of(self, source: str) -> Delivery:
        return self._others.get(source, self._web)
