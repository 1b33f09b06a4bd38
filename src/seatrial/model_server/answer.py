"""Reading what the model wrote, whole or while it is being written, as one call or one reply."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from seatrial.model_server.request import spelled
from seatrial.model_server.schema import ARGUMENTS, REPLY, TOOL


class AnswerBroken(Exception):
    """What the model wrote is no whole answer: it was cut off, or nothing held it to the schema."""


@dataclass(frozen=True)
class Call:
    """A call of a tool, with its arguments as JSON text."""

    tool: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """A reply to the person."""

    text: str


_REPLY_OPENS = re.compile(rf'\s*\{{\s*"{REPLY}"\s*:\s*"')
# Whole characters of a JSON string. The first half of a surrogate pair counts only together with its second.
_CHARACTERS = re.compile(
    r"""(?: [^"\\] | \\["\\/bfnrt]
          | \\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
          | \\u(?![dD][89abAB])[0-9a-fA-F]{4} )*""",
    re.VERBOSE,
)


def parse_answer(text: str, tools: Collection[str]) -> Call | Reply:
    """The one call or the one reply that an answer is. Raises AnswerBroken."""
    try:
        value = json.loads(text, strict=False)
    except ValueError as error:
        raise AnswerBroken(f"The model's answer is not JSON ({error}): {text[:200]!r}") from error
    if isinstance(value, dict):
        names, reply = set(value), value.get(REPLY)
        if names == {REPLY} and isinstance(reply, str):
            return Reply(_whole_characters(reply))
        if names == {TOOL, ARGUMENTS} and value[TOOL] in tools and isinstance(value[ARGUMENTS], dict):
            return Call(value[TOOL], _whole_characters(spelled(value[ARGUMENTS])))
    raise AnswerBroken(f"The model's answer is neither a call nor a reply: {text[:200]!r}")


def reply_so_far(text: str) -> str | None:
    """The part of a reply that has been written; None while it cannot be told, and for a call."""
    opened = _REPLY_OPENS.match(text)
    if opened is None:
        return None
    written = _CHARACTERS.match(text, opened.end())
    assert written is not None  # it may be empty
    return _whole_characters(json.loads(f'"{written.group()}"', strict=False))


def _whole_characters(text: str) -> str:
    """Half a surrogate pair is not text, and nobody behind this server could read it: a replacement character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
