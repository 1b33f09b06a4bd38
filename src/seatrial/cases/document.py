"""A YAML document that remembers in which line each of its values stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 256 * 1024
"""A case is written and read by people; a larger file is a mistake."""

Location = tuple[str | int, ...]


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake in a file: where it stands, and what to do about it."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class InvalidFile(Exception):
    """A file has mistakes; all of them are in ``mistakes``, in the order of their lines."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes))
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


@dataclass(frozen=True)
class Document:
    """The values of a file, the line of each, and the mistakes that reading alone has shown."""

    path: str
    data: Any
    lines: dict[Location, int]
    mistakes: tuple[Mistake, ...] = field(default=())

    def line(self, location: Location) -> int:
        """Return the line of the value at `location`, or of the nearest value around it."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)


def read_document(path: Path) -> Document:
    """Read a YAML file. Raises InvalidFile when it cannot be read as YAML at all.

    Duplicate keys and aliases are mistakes: the first hides a line that its author believes in, the
    second lets a short file become an endless one.
    """
    name = path.as_posix()
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InvalidFile([Mistake(name, 1, f"the file has {size} bytes; at most {MAX_BYTES} are read")])
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidFile([Mistake(name, 1, f"the file cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise InvalidFile([Mistake(name, 1, f"the file is not UTF-8 (byte {error.start})")]) from error
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidFile([Mistake(name, line, f"this is not YAML: {error.problem}")]) from error
    except yaml.YAMLError as error:
        raise InvalidFile([Mistake(name, 1, f"this is not YAML: {error}")]) from error
    if node is None:
        raise InvalidFile([Mistake(name, 1, "the file is empty")])
    reader = _Reader(name, loader)
    data = reader.value(node, ())
    return Document(name, data, reader.lines, tuple(reader.mistakes))


class _Reader:
    def __init__(self, name: str, loader: yaml.SafeLoader) -> None:
        self._name = name
        self._loader = loader
        self._seen: set[int] = set()
        self.lines: dict[Location, int] = {}
        self.mistakes: list[Mistake] = []

    def value(self, node: yaml.Node, location: Location) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(location, line)
        if id(node) in self._seen:
            self.mistakes.append(Mistake(self._name, line, "anchors and aliases are not read: write the value out"))
            return None
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, location)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*location, index)) for index, item in enumerate(node.value)]
        try:
            return self._loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            self.mistakes.append(Mistake(self._name, line, f"this value cannot be read: {error}"))
            return None

    def _mapping(self, node: yaml.MappingNode, location: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self.mistakes.append(Mistake(self._name, line, "a key has to be a word"))
                continue
            if key.value in result:
                first = self.lines[(*location, key.value)]
                self.mistakes.append(
                    Mistake(self._name, line, f"'{key.value}' stands here again; first in line {first}")
                )
                continue
            # The key's own word, not YAML's reading of it: `on` stays "on" and does not become true.
            self.lines[(*location, key.value)] = line
            result[key.value] = self.value(value, (*location, key.value))
        return result
