"""Compare what a model says now with what is recorded: verdict, replies, titles, tool calls, and every answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from seatrial_build.core.verdicts import EXIT_CODES

_SHOWN = 200  # characters of one side


@dataclass(frozen=True)
class Drift:
    """What differs between two runs of a case, one line each; empty when nothing does."""

    changes: tuple[str, ...]
    before: str
    after: str

    @property
    def exit_code(self) -> int:
        """0 without drift. A recording that the model would not give again is at least stale."""
        return max(EXIT_CODES["stale"], EXIT_CODES.get(self.after, 0)) if self.changes else 0


def drift(before: bytes | None, after: bytes | None, recording: bytes | None, asked: bytes | None) -> Drift:
    """Compare two records (record.json) and two recordings; None is what was not left."""
    old, new = _read(before), _read(after)
    verdicts = [str(record.get("verdict", "no record")) for record in (old, new)]
    changes = list(_change("verdict", *verdicts))
    if new.get("verdict") != "passed" and new.get("reason"):
        changes += [f"  because: {_short(new['reason'])}"] if changes else []
    calls: Iterator[tuple[Any, Any]] = zip_longest(_list(old, "calls"), _list(new, "calls"), fillvalue={})
    for number, (was, now) in enumerate(calls, start=1):
        changes += _call(number, was, now)
    # What the answers of a run that was cut short say, its verdict says already.
    if asked is not None:
        changes += _answers(_read(recording), _read(asked))
    return Drift(tuple(changes), *verdicts)


def _call(number: int, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    lines = zip_longest(_list(was, "transcript"), _list(now, "transcript"))
    for one, other in lines:
        yield from _change(f"call {number}, transcript", _line(one), _line(other))
    yield from _change(f"call {number}, tool calls", _tools(was), _tools(now))
    yield from _change(f"call {number}, title", _text(was.get("title")), _text(now.get("title")))


def _answers(recording: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[str]:
    old, new = _words(recording), _words(asked)
    for (key, number), (role, words) in old.items():
        if (key, number) not in new:
            yield f"answer to {role}: its request was not made again"
        elif new[key, number][1] != words:
            yield from _change(f"answer to {role}", _text(words), _text(new[key, number][1]))
    for place, (role, words) in new.items():
        if place not in old:
            yield f"answer to {role}: its request is new: {_text(words)}"


def _words(recording: Mapping[str, Any]) -> dict[tuple[str, int], tuple[str, str]]:
    """The words of each answer by its request. Ids, dates and costs are no words."""
    return {
        (str(each.get("key")), int(each.get("occurrence", 0))): (str(each.get("role")), _said(each.get("outcome")))
        for each in _list(recording, "exchanges")
    }


def _said(outcome: Any) -> str:
    outcome = outcome if isinstance(outcome, dict) else {}
    bodies = [outcome.get("body"), *(_read(event.encode()) for event in _list(outcome, "events"))]
    texts: dict[tuple[Any, ...], list[str]] = {}
    for body in bodies:
        for place, text in _texts(body.get("choices") if isinstance(body, dict) else None, ()):
            texts.setdefault(place, []).append(text)
    parts = {place: "".join(text) for place, text in texts.items()}
    if not parts:
        return json.dumps(outcome.get("body"), sort_keys=True, ensure_ascii=False)
    return " ".join(text for place, text in parts.items() if place[-1] not in ("role", "type", "finish_reason"))


def _texts(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in ("id", "logprobs"):
                yield from _texts(part, (*place, name))
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _texts(part, (*place, part.get("index", position) if isinstance(part, dict) else position))


def _change(what: str, was: str, now: str) -> Iterator[str]:
    if was != now:
        yield f"{what}: {was} -> {now}"


def _line(entry: Any) -> str:
    return f"{entry[0]}: {_text(entry[1])}" if isinstance(entry, list) and len(entry) == 2 else "nothing"


def _tools(call: Mapping[str, Any]) -> str:
    told = [
        f"{tool.get('name')}({_short(json.dumps(tool.get('input'), ensure_ascii=False, sort_keys=True))}) "
        f"{tool.get('status')}"
        for tool in _list(call, "tool_calls")
    ]
    return ", ".join(told) or "none"


def _text(value: Any) -> str:
    return "none" if value is None else f"“{_short(str(value))}”"


def _short(text: Any) -> str:
    words = " ".join(str(text).split())
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"


def _list(record: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else []


def _read(content: bytes | None) -> Mapping[str, Any]:
    try:
        value = json.loads(content or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
