"""A long message as several that Slack takes, cut where a reader would pause.

No part has half an entity, half a link or half a block of code: code that goes on is closed, and opened again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FENCE: Final = "```"
LONGEST_PART: Final = 3_900
"""Characters. Slack asks for at most 4,000 and cuts longer messages where it likes."""

_SHORTEST_LIMIT: Final = 40
_OPENING, _CLOSING = f"{FENCE}\n", f"\n{FENCE}"
_ENTITY: Final = "&(?:amp|lt|gt);"
_ATOM: Final = re.compile(rf"{FENCE}\n?|<[^<>\n]*>|{_ENTITY}|\n\s*\n|.", re.DOTALL)
_ATOM_OF_CODE: Final = re.compile(rf"\n?{FENCE}|{_ENTITY}|.", re.DOTALL)
# The places to cut, best first.
_PARAGRAPH, _LINE, _LINE_OF_CODE, _WORD, _ANYWHERE = range(5)


@dataclass(frozen=True)
class _Place:
    """A place to cut: the part ends at `end`, and what follows begins at `start`."""

    rank: int
    end: int
    start: int
    code: bool


def split_message(mrkdwn: str, limit: int = LONGEST_PART) -> tuple[str, ...]:
    """Return a message as parts of at most `limit` characters, none of them blank; none at all for a blank one.

    Raises `ValueError` for a limit too small for code with its fences.
    """
    if limit < _SHORTEST_LIMIT:
        raise ValueError(f"limit is {limit}: use at least {_SHORTEST_LIMIT} characters")
    parts: list[str] = []
    rest, code = mrkdwn.strip("\n"), False
    while True:
        opening = _OPENING if code else ""
        if len(opening) + len(rest) <= limit:
            return tuple(part for part in (*parts, opening + rest) if part.strip())
        place = _best(rest, limit - len(opening) - len(_CLOSING), code)
        parts.append(opening + rest[: place.end] + (_CLOSING if place.code else ""))
        rest, code = rest[place.start :], place.code
        if not code:
            rest = rest.lstrip("\n")


def _best(text: str, room: int, code: bool) -> _Place:
    """Choose the last of the best places that leave no part nearly empty."""
    places = list(_places(text, room, code))
    for rank in (_PARAGRAPH, _LINE, _LINE_OF_CODE, _WORD):
        late = [place for place in places if place.rank == rank and place.end >= room // 2]
        if late:
            return late[-1]
    pauses = [place for place in places if place.rank < _ANYWHERE]
    return (pauses or places)[-1]


def _places(text: str, room: int, code: bool) -> Iterator[_Place]:
    """Yield the places within the first `room` characters, in order; there is always one."""
    at, opened, found = 0, 0, False
    last = _Place(_ANYWHERE, room, room, code)
    while at < len(text):
        atom = _atom(text, at, room, code)
        before, at = at, at + len(atom)
        if at > room:
            break
        if FENCE in atom:
            code, opened = not code, at
        last = _Place(_ANYWHERE, at, at, code)
        place = _place(text, atom, before, at, code)
        if place is not None and text[opened if code else 0 : place.end].strip():
            found = True
            yield place
    if not found:
        yield last


def _atom(text: str, at: int, room: int, code: bool) -> str:
    match = (_ATOM_OF_CODE if code else _ATOM).match(text, at)
    assert match is not None, "any character is an atom"
    return match[0] if len(match[0]) <= room else text[at]


def _place(text: str, atom: str, before: int, at: int, code: bool) -> _Place | None:
    """Return the place after an atom, or the one that it is: a pause is left out between two parts."""
    if code:
        if text.startswith((FENCE, _CLOSING), at):
            return None
        if atom == "\n":
            return _Place(_LINE_OF_CODE, before, at, True)
        return _Place(_ANYWHERE, at, at, True)
    if atom.isspace():
        rank = _WORD if "\n" not in atom else _PARAGRAPH if atom.count("\n") > 1 else _LINE
        return _Place(rank, before, at, False)
    return _Place(_ANYWHERE, at, at, False)
