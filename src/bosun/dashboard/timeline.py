"""One conversation as a person reads it: what was said, with the turns in the places where they began."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bosun.clock import CalendarPolicy
from bosun.log.events import Event, MessageHandled, TurnStarted, VisibleMessage


def timeline(view: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Order messages and turns. A turn stands before the first thing that it said, or at its place by time."""
    turns: list[Mapping[str, Any]] = list(view["turns"])
    items: list[dict[str, Any]] = []
    for message in view["messages"]:
        if message["role"] == "assistant":
            items += _taken(turns, lambda turn, said=message: turn["id"] == said["turnId"])
        else:
            items += _taken(turns, lambda turn, said=message: _ended(turn) and turn["endedAt"] < said["createdAt"])
        items.append({"message": message, "turn": None})
    return (*items, *_taken(turns, lambda turn: True))


def whole_turns(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the last events of a conversation without those of turns that began before them."""
    began = {event.payload.turn_id for event in events if isinstance(event.payload, TurnStarted)}
    return tuple(
        event
        for event in events
        if isinstance(event.payload, VisibleMessage | MessageHandled)
        or getattr(event.payload, "turn_id", None) is None
        or getattr(event.payload, "turn_id", None) in began
    )


def _ended(turn: Mapping[str, Any]) -> bool:
    return turn["endedAt"] is not None


def _taken(turns: list[Mapping[str, Any]], wanted: Any) -> list[dict[str, Any]]:
    found = [turn for turn in turns if wanted(turn)]
    turns[:] = [turn for turn in turns if turn not in found]
    return [{"message": None, "turn": turn} for turn in found]


def written(value: object) -> str:
    """Return JSON as a person reads it, and a text as it is."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def words(name: str) -> str:
    """Return a name of the API's as words."""
    return name.replace("_", " ")


def moments(calendar: CalendarPolicy) -> Any:
    """Return how an instant of the API's is written for people: where the app's calendar hangs."""

    def moment(text: str) -> str:
        return f"{calendar.local(datetime.fromisoformat(text)):%Y-%m-%d %H:%M}"

    return moment


def cursor(conversations: Sequence[Any], limit: int) -> str | None:
    """Return what names the place after a full page, None for the last one."""
    if len(conversations) < limit:
        return None
    return f"{conversations[-1].created_at.isoformat()}~{conversations[-1].id}"


def read_cursor(text: str | None) -> tuple[datetime, str] | None:
    """Read it back. Raises `ValueError` for what no page has written."""
    if text is None:
        return None
    at, separator, last = text.partition("~")
    moment = datetime.fromisoformat(at)
    if not separator or not last or moment.tzinfo is None or "\0" in last:
        raise ValueError(f"{text!r} names no place in the list")
    return moment, last
