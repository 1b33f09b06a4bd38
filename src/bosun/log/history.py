"""The model's stream as a request needs it: each call of a tool is followed at once by its result.

Where a part of it was replaced by a summary, the summary stands in its place. The replaced rows stay in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bosun.log.events import (
    AssistantMessage,
    Compaction,
    Handoff,
    MessageUpdated,
    Opaque,
    Payload,
    ToolResult,
    UserMessage,
)
from bosun.log.messages import HistoryMessage
from bosun.log.revisions import Revisions, revised, revisions_of

HISTORY_TYPES: Final = (
    *(UserMessage.type, AssistantMessage.type, ToolResult.type, MessageUpdated.type),
    *(Compaction.type, Handoff.type),
)

NO_RESULT: Final = "Error: there is no result."
"""What stands for the result of a call whose turn ended before it had one. A request without it would be refused."""

Row = tuple[int, Payload | Opaque]
"""A row's sequence number, and what it holds."""


@dataclass(frozen=True)
class Placed:
    """A message of the stream, with the last row that it is made of and the turn that it belongs to, if any."""

    seq: int
    turn_id: str | None
    message: HistoryMessage


def history_of(payloads: Iterable[Payload | Opaque]) -> tuple[HistoryMessage, ...]:
    """Return the stream of rows of `HISTORY_TYPES`, given in the log's order and numbered from 1."""
    return tuple(placed.message for placed in stream_of(enumerate(payloads, start=1)))


def stream_of(rows: Iterable[Row]) -> tuple[Placed, ...]:
    """Return the stream of rows of `HISTORY_TYPES`, given in the log's order.

    Messages that arrived between a call and its result come after both. A changed one is read as it is now, and a
    summary that was made of it before does not count. A summary of what is older stands first, and the note of a turn's
    own work after what the turn was asked.
    """
    stored = tuple(rows)
    changes = revisions_of(payload for _, payload in stored)
    replacement = _replacement(stored, changes)
    outputs = {row.call_id: (seq, row.output) for seq, row in stored if isinstance(row, ToolResult)}
    stream: list[Placed] = []
    note: Placed | None = None
    if replacement is not None:
        note = Placed(replacement.upto, None, HistoryMessage(role="summary", text=replacement.summary))
    for seq, payload in stored:
        row = revised(payload, changes)
        if note is not None and (isinstance(replacement, Compaction) or seq > note.seq):
            stream.append(note)
            note = None
        if replacement is not None and seq <= replacement.upto and not _is_kept(row, replacement):
            continue
        if isinstance(row, UserMessage):
            stream.append(Placed(seq, row.turn_id, HistoryMessage(role="user", text=row.text, author=row.author)))
        elif isinstance(row, AssistantMessage):
            said = HistoryMessage(role="assistant", text=row.text, calls=tuple(row.tool_calls))
            stream.append(Placed(seq, row.turn_id, said))
            for call in row.tool_calls:
                at, output = outputs.get(call.id, (seq, NO_RESULT))
                told = HistoryMessage(role="tool", text=output, call_id=call.id)
                stream.append(Placed(at, row.turn_id, told))
    return tuple(stream) if note is None else (*stream, note)


def _replacement(stored: Sequence[Row], changes: Revisions) -> Compaction | Handoff | None:
    """Return the latest replacement that still says what the rows say.

    One that was made before a message that it is made of was changed or taken back does not: what a person has taken
    back lives on nowhere.
    """
    changed_at = {
        payload.message_id: seq
        for seq, payload in stored
        if isinstance(payload, MessageUpdated) and changes.get(payload.message_id) == payload
    }
    said_at = {payload.message_id: seq for seq, payload in stored if isinstance(payload, UserMessage)}
    for seq, payload in reversed(stored):
        if isinstance(payload, Compaction | Handoff):
            outdated = any(
                at > seq and said_at.get(message_id, payload.upto + 1) <= payload.upto
                for message_id, at in changed_at.items()
            )
            if not outdated:
                return payload
    return None


def _is_kept(row: Payload | Opaque, replacement: Compaction | Handoff) -> bool:
    """A handoff keeps what its turn was asked."""
    return isinstance(replacement, Handoff) and isinstance(row, UserMessage) and row.turn_id == replacement.turn_id
