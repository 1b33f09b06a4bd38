"""The calls of tools that an answer in OpenAI's wire format asks for, whole or in the pieces of a stream.

Source: https://platform.openai.com/docs/api-reference/chat (object and chunk).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seatrial.gateway.events import DONE
from seatrial.gateway.exchange import Answer, Outcome, Stream


@dataclass(frozen=True)
class CalledTool:
    """One call as the model wrote it. ``arguments`` is JSON where the model wrote JSON."""

    name: str
    arguments: str


def calls_of(outcome: Outcome) -> tuple[CalledTool, ...]:
    """Return the calls of an answer, in its order. How a stream cut their text makes no difference."""
    if isinstance(outcome, Answer):
        return tuple(
            CalledTool(_text(function.get("name")), _text(function.get("arguments")))
            for choice in _mappings(_member(outcome.body, "choices"))
            for call in _mappings(_member(choice.get("message"), "tool_calls"))
            if isinstance(function := call.get("function"), Mapping)
        )
    return _of_stream(outcome) if isinstance(outcome, Stream) else ()


def _of_stream(stream: Stream) -> tuple[CalledTool, ...]:
    """Put the deltas together: a call is known by its choice's index and its own."""
    pieces: dict[tuple[int, int], tuple[str, str]] = {}
    for event in stream.events:
        if event == DONE:
            continue
        for choice in _mappings(_member(json.loads(event), "choices")):
            for delta in _mappings(_member(choice.get("delta"), "tool_calls")):
                place = (_index(choice), _index(delta))
                name, arguments = pieces.get(place, ("", ""))
                function = delta.get("function")
                more = function if isinstance(function, Mapping) else {}
                pieces[place] = (name + _text(more.get("name")), arguments + _text(more.get("arguments")))
    return tuple(CalledTool(*pieces[place]) for place in sorted(pieces))


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _mappings(value: object) -> Iterator[Mapping[str, object]]:
    for item in value if isinstance(value, Sequence) and not isinstance(value, str) else ():
        if isinstance(item, Mapping):
            yield item


def _index(value: Mapping[str, object]) -> int:
    index = value.get("index")
    return index if isinstance(index, int) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
