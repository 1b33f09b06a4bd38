"""A document of words, lists and mappings, in which every word knows its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Word:
    """A single value, as its text, and the line that it stands in (from 1)."""

    text: str
    line: int


@dataclass(frozen=True)
class Listing:
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Mapping:
    """Keys and values in the order of the document. A key that stands twice is there twice."""

    entries: tuple[tuple[Word, Node], ...]

    def get(self, key: str) -> Node | None:
        """Return the value of the first entry with this key."""
        return next((value for name, value in self.entries if name.text == key), None)


Node = Union[Word, Listing, Mapping]


def text_of(node: Node | None) -> str:
    """Return the text of a word, and nothing for anything else."""
    return node.text if isinstance(node, Word) else ""


def words_of(node: Node | None) -> tuple[Word, ...]:
    """Return the words of a list; what else stands in it is left out."""
    return tuple(item for item in node.items if isinstance(item, Word)) if isinstance(node, Listing) else ()


def entries_of(node: Node | None) -> Iterator[tuple[str, Node]]:
    """Iterate over the keys and values of a mapping; anything else has none."""
    return ((key.text, value) for key, value in node.entries) if isinstance(node, Mapping) else iter(())
