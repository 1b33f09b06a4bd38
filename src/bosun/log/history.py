"""The model's stream as a request needs it: each call of a tool is followed at once by its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bosun.log.events import AssistantMessage, MessageUpdated, Opaque, Payload, ToolResult, UserMessage
from bosun.log.messages import HistoryMessage
from bosun.log.revisions import revised, revisions_of

HISTORY_TYPES: Final = (UserMessage.type, AssistantMessage.type, ToolResult.type, MessageUpdated.type)

NO_RESULT: Final = "Error: there is no result."
"""What stands for the result of a call whose turn ended before it had one. A request without it would be refused."""


def history_of(payloads: Iterable[Payload | Opaque]) -> tuple[HistoryMessage, ...]:
    """Return the stream of rows of `HISTORY_TYPES`, given in the log's order.

    Messages that arrived between a call and its result come after both. A changed one is read as it is now.
    """
    stored = tuple(payloads)
    changes = revisions_of(stored)
    rows: Sequence[Payload | Opaque] = tuple(revised(row, changes) for row in stored)
    outputs = {row.call_id: row.output for row in rows if isinstance(row, ToolResult)}
    stream: list[HistoryMessage] = []
    for row in rows:
        if isinstance(row, UserMessage):
            stream.append(HistoryMessage(role="user", text=row.text, author=row.author))
        elif isinstance(row, AssistantMessage):
            stream.append(HistoryMessage(role="assistant", text=row.text, calls=tuple(row.tool_calls)))
            stream += [
                HistoryMessage(role="tool", text=outputs.get(call.id, NO_RESULT), call_id=call.id)
                for call in row.tool_calls
            ]
    return tuple(stream)
