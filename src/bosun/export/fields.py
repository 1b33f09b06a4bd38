"""Which field of a row holds what: the whole list, so that a field that is new is not exported before it is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from bosun.export.placeholders import Placeholders, display_name
from bosun.export.texts import Texts
from bosun.log.events import Payload
from bosun.log.messages import ToolCall
from bosun.log.recorded import BOSUN

Holds = Literal["kept", "name", "person", "author", "text", "json", "calls", "elsewhere"]
"""Kept: a word of Bosun's own, a count, or a tool's name. Name: a message's, a turn's or a call's, renamed before.
Elsewhere: a name that another service gave, which leads to it and is left out."""

FIELDS: Final[Mapping[str, Mapping[str, Holds]]] = {
    "message": {
        "message_id": "name",
        "role": "kept",
        "kind": "kept",
        "author_id": "person",
        "author": "author",
        "source": "kept",
        "text": "text",
        "turn_id": "name",
    },
    "message_handled": {"message_id": "name", "turn_id": "name"},
    "user_message": {
        "message_id": "name",
        "turn_id": "name",
        "author_id": "person",
        "author": "author",
        "text": "text",
        "place": "elsewhere",
    },
    "assistant_message": {"turn_id": "name", "text": "text", "tool_calls": "calls"},
    "tool_execution_started": {"turn_id": "name", "call_id": "name", "name": "kept", "input": "json"},
    "tool_result": {"turn_id": "name", "call_id": "name", "name": "kept", "status": "kept", "output": "text"},
    "turn_started": {
        "turn_id": "name",
        "ordinal": "kept",
        "actor_id": "person",
        "source": "kept",
        "message_ids": "name",
    },
    "turn_completed": {"turn_id": "name", "status": "kept", "usage": "kept"},
    "turn_failed": {"turn_id": "name", "kind": "kept", "usage": "kept"},
}


class FieldUnknown(Exception):
    """A row has a field of which nobody has said what it holds, so that it cannot be exported."""

    def __init__(self, type_: str, field: str) -> None:
        super().__init__(f"nobody has said how the field '{field}' of a row of type '{type_}' is replaced")


def cleaned(payload: Payload, texts: Texts, placeholders: Placeholders) -> Payload:
    """Return the payload with nothing in it that says whose it was. Raises `FieldUnknown`."""
    known = FIELDS.get(payload.type, {})
    changes: dict[str, Any] = {}
    for field in type(payload).model_fields:
        value = getattr(payload, field)
        match known.get(field):
            case "kept" | "name":
                pass
            case "person":
                changes[field] = person(value, placeholders)
            case "author":
                changes[field] = value if _is_bosun(payload) else display_name(_author(payload, placeholders))
            case "text":
                changes[field] = texts.text(value)
            case "json":
                changes[field] = texts.json(value)
            case "calls":
                changes[field] = [_call(call, texts) for call in value]
            case "elsewhere":
                changes[field] = None
            case None:
                raise FieldUnknown(payload.type, field)
    return payload.model_copy(update=changes)


def person(id_: str, placeholders: Placeholders) -> str:
    """Return who a person becomes; Bosun stays who it is."""
    return id_ if id_ == BOSUN else placeholders.of("person", id_)


def _is_bosun(payload: Payload) -> bool:
    return getattr(payload, "author_id", None) == BOSUN


def _author(payload: Payload, placeholders: Placeholders) -> str:
    return placeholders.of("person", str(getattr(payload, "author_id", "")))


def _call(call: ToolCall, texts: Texts) -> ToolCall:
    return call.model_copy(update={"arguments": texts.text(call.arguments)})
