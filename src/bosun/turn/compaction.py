"""Making room: when the next request would fill the model's context window, a summary takes a part's place.

First of what came before the turn (a compaction), then of what the turn itself has done (a handoff: the turn goes on
from a note). The replacement is a row that is committed before it counts; what people see is not touched.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bosun.context.prompt import PromptMessage
from bosun.context.summarizing import summary_prompt, tidy_summary, transcript
from bosun.context.window import TOKENS_A_MESSAGE, request_tokens, text_tokens
from bosun.log.events import Compaction, Handoff, TokenUsage
from bosun.log.history import Placed
from bosun.log.messages import Turn
from bosun.log.store import ConversationLog
from bosun.model.client import Model, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.steps import Step, StepSink
from bosun.tool_arguments import JSON

FULL: Final = 0.9
"""The part of the window from which room is made. The rest is for the answer."""
ROOMY: Final = 0.5
"""The part of the window that a request may have after a compaction, where that is possible."""
SUMMARY_TOKENS: Final = 200
TOO_LARGE: Final = "the request does not fit the model's context window, whatever is summarized"


@dataclass(frozen=True)
class Room:
    """What was made room with: how many tokens it took."""

    usage: TokenUsage


@dataclass(frozen=True)
class _Cut:
    """What is to be told and what is then replaced, up to which row, and whether the turn's own work is."""

    told: tuple[Placed, ...]
    replaced: tuple[Placed, ...]
    upto: int
    handoff: bool


class Compactor:
    """Makes room in a window of so many tokens."""

    def __init__(self, *, model: Model, log: ConversationLog, steps: StepSink, window: int) -> None:
        self._model = model
        self._log = log
        self._steps = steps
        self._window = window

    def is_full(self, messages: Sequence[PromptMessage], tools: Sequence[Mapping[str, JSON]]) -> bool:
        """Tell whether a request is so large that room has to be made before it."""
        return request_tokens(messages, tools) > FULL * self._window

    async def make_room(
        self,
        turn: Turn,
        request: int,
        stream: Sequence[Placed],
        messages: Sequence[PromptMessage],
        tools: Sequence[Mapping[str, JSON]],
    ) -> Room | None:
        """Replace a part of the stream that the turn's n-th request is built from; None when nothing is left to be.

        Raises `ModelFailure` where the request would not fit and room cannot be made; one that would fit is then made
        as it is.
        """
        size = request_tokens(messages, tools)
        cut = cut_before(stream, turn.id, size, ROOMY * self._window) or cut_within(stream, turn.id)
        fits = size <= self._window
        if cut is None:
            if not fits:
                raise ModelFailure("invalid_request", TOO_LARGE)
            return None
        try:
            summary, usage = await self._summary(turn, cut)
        except ModelFailure as failure:
            if not fits:
                raise
            logging.getLogger("bosun.turn").warning("turn %s goes on without room: %s", turn.id, failure)
            return None
        saved = sum(_tokens(placed) for placed in cut.replaced)
        made = (Handoff if cut.handoff else Compaction)(
            turn_id=turn.id,
            upto=cut.upto,
            summary=summary,
            replaced=len(cut.replaced),
            tokens_before=size,
            tokens_after=max(size - saved, 0) + TOKENS_A_MESSAGE + text_tokens(summary),
        )
        await self._log.replace_history(turn, request, made)
        fields: dict[str, JSON] = {"kind": made.type, "replaced": made.replaced}
        self._steps.emit(Step("compaction.done", turn.conversation_id, fields))
        return Room(usage)

    async def _summary(self, turn: Turn, cut: _Cut) -> tuple[str, TokenUsage]:
        """Ask for a summary, in parts where the whole does not fit a request: each goes on from the one before."""
        usage, summary = TokenUsage(), ""
        for part in self._parts(transcript(placed.message for placed in cut.told)):
            lines = [f"Before: {' '.join(summary.split())}", *part] if summary else part
            answer = await self._model.complete(
                ModelRequest(
                    role="compaction",
                    conversation_id=turn.conversation_id,
                    messages=summary_prompt(lines, handoff=cut.handoff),
                    max_tokens=SUMMARY_TOKENS,
                    temperature=0.0,
                )
            )
            usage += answer.usage
            summary = tidy_summary(answer.text)
            if not summary:
                raise ModelFailure("invalid_response", "the model's summary is empty")
        return summary, usage

    def _parts(self, lines: Sequence[str]) -> list[list[str]]:
        """Divide lines so that each part fits a request beside its instruction, the summary so far and the next."""
        parts: list[list[str]] = [[]]
        room = max(self._window - 2 * SUMMARY_TOKENS, SUMMARY_TOKENS)
        left = room
        for line in lines:
            kept = line if text_tokens(line) <= room else line[: room * 2]
            size = text_tokens(kept)
            if size > left and parts[-1]:
                parts.append([])
                left = room
            parts[-1].append(kept)
            left -= size
        return parts


def cut_before(stream: Sequence[Placed], turn_id: str, size: int, wanted: float) -> _Cut | None:
    """Return what of the earlier turns is replaced, so that a request of `size` comes near to `wanted` tokens.

    The newest that fits stays, from a person's message on. A summary alone is not summarized again.
    """
    own = next((place for place, placed in enumerate(stream) if placed.turn_id == turn_id), len(stream))
    earlier = stream[:own]
    first = 1 + sum(placed.message.role == "summary" for placed in earlier)
    places = [place for place in range(first, own + 1) if _parts_there(stream, place, own)]
    if not places:
        return None
    for place in places:
        if size - sum(map(_tokens, earlier[:place])) + SUMMARY_TOKENS <= wanted:
            break
    replaced = tuple(earlier[:place])
    return _Cut(replaced, replaced, max(placed.seq for placed in replaced), handoff=False)


def cut_within(stream: Sequence[Placed], turn_id: str) -> _Cut | None:
    """Return what a handoff replaces: everything but what the turn was asked, once it has done something."""
    own = [placed for placed in stream if placed.turn_id == turn_id]
    if all(placed.message.role == "user" for placed in own):
        return None
    replaced = tuple(placed for placed in stream if placed.turn_id != turn_id or placed.message.role != "user")
    asked = (placed for placed in own if placed.message.role == "user")
    return _Cut((*asked, *replaced), replaced, max(placed.seq for placed in stream), handoff=True)


def _parts_there(stream: Sequence[Placed], place: int, own: int) -> bool:
    """Tell whether what stands before a place is all older than what follows, and the latter begins with a person."""
    if place < len(stream) and min(p.seq for p in stream[place:]) <= max(p.seq for p in stream[:place]):
        return False
    return place == own or stream[place].message.role == "user"


def _tokens(placed: Placed) -> int:
    message = placed.message
    calls = sum(text_tokens(call.name) + text_tokens(call.arguments) for call in message.calls)
    return TOKENS_A_MESSAGE + text_tokens(message.text) + calls
