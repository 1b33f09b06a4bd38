"""The calls of a streamed answer, put together from pieces.

Source of the form: https://platform.openai.com/docs/api-reference/chat-streaming (delta.tool_calls). A piece says by
its index which call it belongs to; name and arguments are what all pieces of one index say, joined.
"""

from __future__ import annotations

from bosun.log.messages import ProposedCall
from bosun.text import storable


class BrokenDeltas(ValueError):
    """The pieces are no calls; the message says why."""


class CallDeltas:
    """Collects the pieces of one answer. What comes in is what a provider sent: nothing about it is taken for sure."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[list[str], list[str]]] = {}

    def add(self, index: object, name: object, arguments: object) -> None:
        """Take one piece; None is nothing. Raises `BrokenDeltas`."""
        if not isinstance(index, int) or isinstance(index, bool) or index < 0:
            raise BrokenDeltas(f"a piece of a tool call has the index {index!r}")
        names, texts = self._calls.setdefault(index, ([], []))
        for piece, pieces in ((name, names), (arguments, texts)):
            if isinstance(piece, str):
                pieces.append(piece)
            elif piece is not None:
                raise BrokenDeltas(f"a piece of a tool call is {piece!r}, which is no text")

    def finish(self, finish_reason: str) -> tuple[ProposedCall, ...]:
        """Return the calls by their index. Raises `BrokenDeltas`, also for an answer that was cut off within its calls.

        An answer with calls may end with any other reason: several servers say `stop`.
        """
        calls = tuple(
            ProposedCall(name=storable("".join(names)).strip(), arguments=storable("".join(texts)))
            for _, (names, texts) in sorted(self._calls.items())
        )
        if finish_reason == "tool_calls" and not calls:
            raise BrokenDeltas("the answer ended with finish_reason tool_calls and has none")
        if finish_reason == "length" and calls:
            raise BrokenDeltas("the answer was cut off within its tool calls")
        if any(not call.name for call in calls):
            raise BrokenDeltas("a tool call has no name")
        return calls
