"""What a case does while a turn runs: at the n-th model request, tool request, delivered reply or pause of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from seatrial.cases.sends import SendWords
from seatrial.cases.span import Span
from seatrial.cases.words import Words
from seatrial.inputs import web_stop
from seatrial.progress import Actions, ModelRequest, Paused, Progress, ReplyDelivered, ToolRequest
from seatrial.report.record import CheckRecord

Moment = Literal["model_request", "tool_request", "reply", "paused"]

_MOMENTS: dict[type[Progress], Moment] = {
    ModelRequest: "model_request",
    ToolRequest: "tool_request",
    ReplyDelivered: "reply",
    Paused: "paused",
}


class DuringWords(Words):
    """One thing that happens while the turn runs: an input, time that passes, or a stop by the usual author."""

    on: Moment
    nth: Annotated[int, Field(ge=1)] = 1
    send: SendWords | None = None
    advance: Span | None = None
    stop: Annotated[bool, Literal[True]] | None = None

    @model_validator(mode="after")
    def _one_action(self) -> DuringWords:
        if sum(action not in (None, False) for action in (self.send, self.advance, self.stop)) != 1:
            raise ValueError("an item of 'during' does one of: send, advance: SPAN, stop: true")
        return self


class During:
    """The handler of one turn: does what its case says, in the case's order, and keeps what came."""

    def __init__(self, items: Sequence[DuringWords]) -> None:
        self._items = items
        self._came: Counter[Moment] = Counter()

    async def __call__(self, progress: Progress, actions: Actions) -> None:
        """Do what belongs to this moment."""
        moment = _MOMENTS[type(progress)]
        self._came[moment] = progress.nth
        for item in self._items:
            if (item.on, item.nth) != (moment, progress.nth):
                continue
            if item.send is not None:
                await actions.send(item.send.item())
            elif item.advance is not None:
                await actions.advance(item.advance)
            else:
                await actions.send(web_stop())

    def checks(self) -> tuple[CheckRecord, ...]:
        """Return a check for each moment that the case names: one that never came did not do its part."""
        named = dict.fromkeys((item.on, item.nth) for item in self._items)
        return tuple(
            CheckRecord(f"during.{on}", f"at least {nth}", str(self._came[on]), self._came[on] >= nth)
            for on, nth in named
        )
