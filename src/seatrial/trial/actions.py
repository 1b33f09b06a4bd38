"""What the handler of one call can do in its conversation, while the call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seatrial.clock import pass_time
from seatrial.inputs import Input

if TYPE_CHECKING:
    from seatrial.trial.trial import Trial


class CallActions:
    """The actions of one call; `over` ends them."""

    def __init__(self, trial: Trial, conversation_id: str | None) -> None:
        self._trial = trial
        self._conversation_id = conversation_id
        self.over = False

    async def send(self, item: Input) -> None:
        """Send an input and return when it is in the mailbox."""
        self._refuse_when_over()
        await self._trial._send(item, self._conversation_id)

    async def advance(self, seconds: float) -> None:
        """Move time forward step by step."""
        self._refuse_when_over()
        await pass_time(self._trial._timer, seconds)

    def _refuse_when_over(self) -> None:
        if self.over:
            raise RuntimeError("the call is over, and what its handler could do with it: send in a call of its own")
