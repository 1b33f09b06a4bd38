"""A conversation's history under other names: what a fork, an export and a loaded conversation have in common.

History is what is over. What only a running turn or the conversation itself has is not part of it: context, reviews,
pauses, the title.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from bosun.log.events import (
    AssistantMessage,
    Event,
    MessageHandled,
    Payload,
    ToolExecutionStarted,
    ToolResult,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UserMessage,
    VisibleMessage,
)
from bosun.log.revisions import Revisions, revised, revisions_of
from bosun.log.writing import NewEvent

COPIED: Final[tuple[type[Payload], ...]] = (
    *(VisibleMessage, MessageHandled, UserMessage, AssistantMessage, ToolExecutionStarted, ToolResult),
    *(TurnStarted, TurnCompleted, TurnFailed),
)

Named = Literal["message", "turn", "tool_call"]
"""What has a name of its own within a conversation."""


def history_rows(stored: Iterable[tuple[str, Event]], later: Revisions | None = None) -> list[NewEvent]:
    """Return those of the rows (each with its key) that are history, in their order.

    A message that was changed, in these rows or `later`, has the text that counts: what was taken back goes nowhere.
    """
    rows = list(stored)
    changes = revisions_of((*(event.payload for _, event in rows), *(later or {}).values()))
    over = {event.payload.message_id for _, event in rows if isinstance(event.payload, MessageHandled)}
    over |= {event.payload.turn_id for _, event in rows if isinstance(event.payload, TurnCompleted | TurnFailed)}
    return [
        NewEvent(key, revised(event.payload, changes), event.created_at)
        for key, event in rows
        if isinstance(event.payload, COPIED) and _is_over(event.payload, over)
    ]


def new_names(payloads: Sequence[Payload], name: Callable[[Named, str], str]) -> dict[str, str]:
    """Return another name for each message, turn and call of history, by the old ones, in their order."""
    names: dict[str, str] = {}
    for payload in payloads:
        if isinstance(payload, VisibleMessage | UserMessage):
            names.setdefault(payload.message_id, name("message", payload.message_id))
        elif isinstance(payload, TurnStarted):
            names[payload.turn_id] = name("turn", payload.turn_id)
        elif isinstance(payload, AssistantMessage):
            for call in payload.tool_calls:
                names[call.id] = name("tool_call", call.id)
    return names


def renamed(row: NewEvent, names: Mapping[str, str]) -> NewEvent:
    """Return a copy in which every message, turn and call has its new name. Raises KeyError for one that has none."""
    return replace(row, key=_renamed_key(row.key, names), payload=_renamed_payload(row.payload, names))


def _is_over(payload: Payload, over: set[str]) -> bool:
    """Tell whether a row is of what was finished by then: a message that waited is not, nor is an open turn."""
    if isinstance(payload, VisibleMessage) and payload.role == "user":
        return payload.message_id in over
    turn_id = getattr(payload, "turn_id", None)
    return turn_id is None or turn_id in over


def _renamed_payload(payload: Payload, names: Mapping[str, str]) -> Payload:
    changes: dict[str, object] = {}
    rename: Callable[[str], str] = names.__getitem__
    for name in ("message_id", "turn_id", "call_id"):
        old = getattr(payload, name, None)
        if old is not None:
            changes[name] = rename(old)
    if isinstance(payload, TurnStarted):
        changes["message_ids"] = [rename(each) for each in payload.message_ids]
    if isinstance(payload, AssistantMessage):
        changes["tool_calls"] = [call.model_copy(update={"id": rename(call.id)}) for call in payload.tool_calls]
    return payload.model_copy(update=changes)


def _renamed_key(key: str, names: Mapping[str, str]) -> str:
    """Return a row's key under the new names. A key is a type and an id, and perhaps a number."""
    type_, _, rest = key.partition(":")
    if rest in names:
        return f"{type_}:{names[rest]}"
    old, _, number = rest.rpartition(":")
    return f"{type_}:{names[old]}:{number}"
