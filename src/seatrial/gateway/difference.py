"""Where two requests first differ: the path in the JSON, the line of a text, and both sides so that eyes can tell."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

from seatrial.gateway.key import JSON, canonical_json

_SHOWN = 100  # characters of one side in a message


@dataclass(frozen=True)
class Difference:
    """The first difference. `line` counts from 1 in a text of several lines; a side is None where it has nothing."""

    path: str
    line: int | None
    recorded: str | None
    asked: str | None
    hint: str = ""

    def __str__(self) -> str:
        place = self.path + (f" line {self.line}" if self.line is not None else "")
        recorded = "nothing" if self.recorded is None else self.recorded
        asked = "nothing" if self.asked is None else self.asked
        return f"{place}: recorded {recorded}, asked {asked}" + (f" ({self.hint})" if self.hint else "")


def first_difference(recorded: JSON, asked: JSON, path: str = "") -> Difference | None:
    """The first difference in the order of the recorded value; None when both make the same key."""
    if canonical_json(recorded) == canonical_json(asked):
        return None
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for name in [*recorded, *(name for name in asked if name not in recorded)]:
            inner = f"{path}.{name}" if path else name
            if name not in asked:
                return Difference(inner, None, _shown(recorded[name]), None)
            if name not in recorded:
                return Difference(inner, None, None, _shown(asked[name]))
            if found := first_difference(recorded[name], asked[name], inner):
                return found
    if isinstance(recorded, list) and isinstance(asked, list):
        for index in range(max(len(recorded), len(asked))):
            inner = f"{path}[{index}]"
            if index >= len(asked):
                return Difference(inner, None, _shown(recorded[index]), None)
            if index >= len(recorded):
                return Difference(inner, None, None, _shown(asked[index]))
            if found := first_difference(recorded[index], asked[index], inner):
                return found
    if isinstance(recorded, str) and isinstance(asked, str):
        return _text_difference(path, recorded, asked)
    return Difference(path or "body", None, _shown(recorded), _shown(asked))


def distance(recorded: JSON, asked: JSON) -> int:
    """How far apart two values are: roughly the characters to replace. 0 for equal values only; made for ranking."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        shared = sum(distance(recorded[name], asked[name]) for name in recorded if name in asked)
        alone = [recorded[name] for name in recorded if name not in asked]
        alone += [asked[name] for name in asked if name not in recorded]
        return shared + sum(map(_size, alone))
    if isinstance(recorded, list) and isinstance(asked, list):
        longer = recorded if len(recorded) > len(asked) else asked
        pairs = list(zip(recorded, asked, strict=False))
        return sum(distance(left, right) for left, right in pairs) + sum(map(_size, longer[len(pairs) :]))
    if isinstance(recorded, str) and isinstance(asked, str):
        start = _common_start(recorded, asked)
        end = _common_start(recorded[start:][::-1], asked[start:][::-1])
        return max(len(recorded), len(asked)) - start - end
    return 0 if canonical_json(recorded) == canonical_json(asked) else max(_size(recorded), _size(asked))


def _size(value: JSON) -> int:
    return len(canonical_json(value))


def _common_start(left: str, right: str) -> int:
    # A binary search over slices compares in C; texts here are whole prompts.
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _text_difference(path: str, recorded: str, asked: str) -> Difference:
    recorded_lines, asked_lines = recorded.split("\n"), asked.split("\n")
    index = 0
    while recorded_lines[index : index + 1] == asked_lines[index : index + 1]:
        index += 1
    line = index + 1 if max(len(recorded_lines), len(asked_lines)) > 1 else None
    place = path or "body"
    if index >= len(recorded_lines):
        return Difference(place, line, None, _quoted(asked_lines[index], 0, looks_alike=False))
    if index >= len(asked_lines):
        return Difference(place, line, _quoted(recorded_lines[index], 0, looks_alike=False), None)
    left, right = recorded_lines[index], asked_lines[index]
    column = _common_start(left, right)
    alike = _looks(left) == _looks(right)
    return Difference(
        place, line, _quoted(left, column, looks_alike=alike), _quoted(right, column, looks_alike=alike),
        _hint(left[column : column + 1], right[column : column + 1]),
    )  # fmt: skip


def _looks(text: str) -> str:
    """What an eye gets from a text: nothing of its spaces, its invisible characters, its composed letters."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(char for char in plain if not char.isspace() and unicodedata.category(char)[0] != "C")


def _hint(recorded: str, asked: str) -> str:
    """Code points of the first differing characters, where seeing them is not enough."""
    if (recorded + asked).isascii():
        return ""
    names = [f"U+{ord(char):04X}" if char else "the end of the line" for char in (recorded, asked)]
    return f"first differing character: {names[0]}, asked {names[1]}"


def _quoted(line: str, column: int, *, looks_alike: bool) -> str:
    """The part of a line around a column. When both sides look alike, spaces become dots and letters escapes."""
    start = max(0, min(column - _SHOWN // 2, len(line) - _SHOWN))
    part = line[start : start + _SHOWN]
    edge = len(part) - len(part.rstrip(" "))
    visible = "".join(_visible(char, looks_alike) for char in part[: len(part) - edge]) + "·" * edge
    cut_before, cut_after = "…" if start else "", "…" if start + _SHOWN < len(line) else ""
    return f"'{cut_before}{visible}{cut_after}'"


def _visible(char: str, looks_alike: bool) -> str:
    if char == " ":
        return "·" if looks_alike else " "
    invisible = char.isspace() or unicodedata.category(char)[0] in "CM"
    if char == "\\" or invisible or (looks_alike and not char.isascii()):
        return char.encode("unicode_escape").decode("ascii")
    return char


def _shown(value: JSON) -> str:
    if isinstance(value, str):
        return _quoted(value, 0, looks_alike=False)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
