"""A recorded conversation: one conversation's history as a document that can be read again, here or in another Bosun.

The rows are those of the log, under names that only the document has. `bosun.export` writes such documents, with
everything replaced in them that says whose conversation it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue, ValidationError

from bosun.log.copies import COPIED, history_rows, new_names, renamed
from bosun.log.events import (
    CorruptEvent,
    Event,
    MessageHandled,
    Payload,
    ToolExecutionStarted,
    ToolResult,
    TurnStarted,
    UserMessage,
    VisibleMessage,
    decode,
)
from bosun.log.writing import NewEvent

FORMAT: Final = "bosun.conversation"
VERSION: Final = 1
"""Version of the document; the payloads of its rows have versions of their own."""

BOSUN: Final = "bosun"
"""The author of Bosun's own messages, who is nobody of the document's people."""

AGAIN: Final = "export the conversation again"


class RowWords(BaseModel):
    """One row. `at` is when it was written; the rows are in the log's order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    type: str
    schema_version: int
    at: AwareDatetime
    payload: dict[str, JsonValue]


class RecordedDocument(BaseModel):
    """The whole document. What was removed and replaced is told in counts, for whoever reviews it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["bosun.conversation"]
    version: Literal[1]
    note: str
    removed: dict[str, int]
    replaced: dict[str, int]
    began_by: str
    people: dict[str, str]
    """Display names by the person's id."""
    rows: list[RowWords]


class RecordedInvalid(ValueError):
    """A document cannot be loaded; `mistakes` says everything that is wrong with it."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(mistakes))


@dataclass(frozen=True)
class RecordedConversation:
    """A document that can be loaded: who began the conversation, who takes part, and its rows."""

    began_by: str
    people: Mapping[str, str]
    rows: tuple[NewEvent, ...]


def read_recorded(data: Any) -> RecordedConversation:
    """Return the conversation that a document (JSON, as Python reads it) holds. Raises `RecordedInvalid`."""
    document = _document(data)
    events: list[tuple[str, Event]] = []
    mistakes: list[str] = []
    for number, row in enumerate(document.rows):
        try:
            payload = decode("recorded", number + 1, row.type, row.schema_version, row.payload)
        except CorruptEvent as error:
            mistakes.append(f"rows[{number}]: {error}")
            continue
        if not isinstance(payload, COPIED):
            mistakes.append(f"rows[{number}]: a row of type '{row.type}' is no history: take it out, or {AGAIN}")
            continue
        events.append((row.key, Event(conversation_id="recorded", seq=number, created_at=row.at, payload=payload)))
    if not mistakes:
        mistakes += _inconsistencies(document, events)
    if mistakes:
        raise RecordedInvalid(tuple(mistakes))
    return RecordedConversation(document.began_by, dict(document.people), tuple(history_rows(events)))


def _document(data: Any) -> RecordedDocument:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordedInvalid((f"it is no recorded conversation: its 'format' is not '{FORMAT}'",))
    if data.get("version") != VERSION:
        raise RecordedInvalid((f"it has version {data.get('version')!r}; this Bosun reads {VERSION}: {AGAIN}",))
    try:
        return RecordedDocument.model_validate(data)
    except ValidationError as error:
        raise RecordedInvalid(tuple(f"{_place(each['loc'])}: {each['msg']}" for each in error.errors())) from error


def _place(location: tuple[int | str, ...]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".") or "document"


def _inconsistencies(document: RecordedDocument, events: list[tuple[str, Event]]) -> Iterator[str]:
    """Say what no conversation of Bosun's could be like, so that nothing stumbles over it later."""
    if not events:
        yield f"it has no rows: {AGAIN}"
    yield from _people(document, events)
    payloads = [event.payload for _, event in events if isinstance(event.payload, COPIED)]
    names = {old: old for old in new_names(payloads, lambda kind, old: old)}
    kept = {row.key for row in history_rows(events)}
    keys: set[str] = set()
    ordinal = 0
    known: set[str] = set()
    for number, (key, event) in enumerate(events):
        place, payload = f"rows[{number}]", event.payload
        if key in keys:
            yield f"{place}: the key '{key}' stands there twice"
        keys.add(key)
        if key not in kept:
            yield f"{place}: it is of a turn or a message that the document does not end"
        if not isinstance(payload, COPIED):
            continue
        try:
            renamed(NewEvent(key, payload), names)
        except KeyError as error:
            yield f"{place}: it names {error}, which is no message, turn or call of the document"
            continue
        if not any(f"{key}:".partition(":")[2].startswith(f"{name}:") for name in _own_names(payload)):
            yield f"{place}: the key '{key}' names nothing that the row is about"
        if isinstance(payload, TurnStarted):
            ordinal += 1
            if payload.ordinal != ordinal:
                yield f"{place}: turn {payload.ordinal} stands where turn {ordinal} should"
        yield from _too_early(place, payload, known)
        known |= _introduced(payload)


def _people(document: RecordedDocument, events: list[tuple[str, Event]]) -> Iterator[str]:
    if document.began_by not in document.people:
        yield f"began_by: '{document.began_by}' is none of 'people'"
    for number, (_, event) in enumerate(events):
        payload = event.payload
        person = getattr(payload, "author_id", None) or getattr(payload, "actor_id", None)
        if isinstance(person, str) and person != BOSUN and person not in document.people:
            yield f"rows[{number}]: '{person}' is none of 'people'"


def _own_names(payload: Payload) -> Iterator[str]:
    for field in ("message_id", "turn_id", "call_id"):
        name = getattr(payload, field, None)
        if isinstance(name, str):
            yield name


def _introduced(payload: Payload) -> set[str]:
    """Name what later rows may be about, once this row is there."""
    if isinstance(payload, TurnStarted):
        return {payload.turn_id}
    if isinstance(payload, VisibleMessage):
        return {payload.message_id}
    return {call.id for call in getattr(payload, "tool_calls", ())}


def _too_early(place: str, payload: Payload, known: set[str]) -> Iterator[str]:
    """Say that a row is about a turn that has not begun, or a call or a message that is not there yet."""
    about = [None if isinstance(payload, TurnStarted) else getattr(payload, "turn_id", None)]
    if isinstance(payload, ToolExecutionStarted | ToolResult):
        about.append(payload.call_id)
    if isinstance(payload, UserMessage | MessageHandled):
        about.append(payload.message_id)
    for name in about:
        if name is not None and name not in known:
            yield f"{place}: it is about '{name}' before that is there"
