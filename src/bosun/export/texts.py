"""What is said in a text or a piece of JSON, with everything replaced in it that gives somebody away."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from bosun.export.patterns import NAMED_SECRET, SECRET_NAME, SHAPES
from bosun.export.placeholders import Kind, Placeholders, display_name
from bosun.tool_arguments import JSON

SHORTEST_NAME: Final = 3
"""A shorter part of a name is a syllable of half the words there are. The whole name is replaced all the same."""


@dataclass(frozen=True)
class Person:
    """Somebody whom Bosun knows: an id and a display name."""

    id: str
    name: str


@dataclass(frozen=True)
class Known:
    """The names that a store knows of the people and the account around a conversation."""

    people: tuple[Person, ...] = ()
    companies: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """What is an id, and nobody's name: the conversation's and the account's."""


@dataclass(frozen=True)
class _Name:
    kind: Kind
    whose: str
    """A person's id, else the name itself."""
    spelling: str
    shown: bool = False
    """Whether it is a display name, or a part of one, rather than an id."""


class Texts:
    """Replaces what is known and what has a shape, consistently throughout one document."""

    def __init__(self, known: Known, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._names = _spellings(known)
        shapes = [f"(?P<s{number}>{pattern})" for number, (_, pattern) in enumerate(SHAPES)]
        names = sorted({name.spelling for name in self._names.values()}, key=lambda name: (-len(name), name))
        alternatives = [*shapes[:1], NAMED_SECRET, *shapes[1:4]]
        if names:
            alternatives.append(rf"(?<![^\W\d_])(?P<name>{'|'.join(map(re.escape, names))})(?P<of_it>s?)(?![^\W\d_])")
        self._pattern = re.compile("|".join((*alternatives, *shapes[4:])), re.IGNORECASE)

    def text(self, text: str) -> str:
        """Return the text; one that is JSON as a whole is cleaned as JSON."""
        value = _structure(text)
        if value is None:
            return self._pattern.sub(self._replaced, text)
        cleaned = self.json(value)
        return text if cleaned == value else json.dumps(cleaned, ensure_ascii=False)

    def json(self, value: JSON) -> JSON:
        """Return the value with every text in it cleaned, keys too. A field that is named like a secret holds one."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): self._field(key, each) for key, each in value.items()}
        if isinstance(value, (int, float)) and not isinstance(value, bool) and len(str(abs(value))) >= 9:
            return self._placeholders.of("number", str(value))
        return value

    def _field(self, key: str, value: JSON) -> JSON:
        return self._secret(value) if SECRET_NAME.search(key) else self.json(value)

    def _secret(self, value: JSON) -> JSON:
        """Replace everything that is said in a value."""
        if isinstance(value, list):
            return [self._secret(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): self._secret(each) for key, each in value.items()}
        if value is None or isinstance(value, bool) or value == "":
            return value
        return self._placeholders.of("secret", str(value))

    def _replaced(self, match: re.Match[str]) -> str:
        groups = match.groupdict()
        if groups["named_secret"] is not None:
            return str(groups["name_of_secret"]) + self._placeholders.of("secret", groups["named_secret"])
        found = match.group()
        if groups.get("name") is not None:
            return self._named(groups["name"]) + groups["of_it"]
        number = next(number for number in range(len(SHAPES)) if groups[f"s{number}"] is not None)
        kind = SHAPES[number][0]
        if kind == "number" and _is_date(found):
            return found
        ending = found[len(found.rstrip(".,;:!?")) :] if kind in ("link", "address", "path") else ""
        return self._placeholders.of(kind, found.removesuffix(ending)) + ending

    def _whose(self, found: str) -> _Name:
        """Return whose name was found: by its spelling, or else by what the pattern takes for the same."""
        known = self._names.get(_folded(found))
        if known is not None:
            return known
        same = (n for n in self._names.values() if re.fullmatch(re.escape(n.spelling), found, re.IGNORECASE))
        return next(same)

    def _named(self, found: str) -> str:
        name = self._whose(found)
        placeholder = self._placeholders.of(name.kind, name.whose)
        return display_name(placeholder) if name.shown and not found.islower() else placeholder


def _spellings(known: Known) -> dict[str, _Name]:
    """Return what each known spelling stands for. Where two people share a name, it is the first one's."""
    found: dict[str, _Name] = {}
    for name in _names(known):
        for form in ("NFC", "NFD"):
            spelling = unicodedata.normalize(form, name.spelling).strip()
            if spelling:
                found.setdefault(_folded(spelling), replace(name, spelling=spelling))
    return found


def _names(known: Known) -> Iterator[_Name]:
    """Yield every name, what is surest first."""
    for id_ in known.ids:
        yield _Name("id", id_, id_)
    for person in known.people:
        yield _Name("person", person.id, person.name, shown=True)
    for company in known.companies:
        yield _Name("company", company, company)
    for project in known.projects:
        yield _Name("project", project, project)
    for person in known.people:
        for part in re.split(r"[\s,.]+", person.name):
            if len(part) >= SHORTEST_NAME:
                yield _Name("person", person.id, part, shown=True)
    for person in known.people:
        yield _Name("person", person.id, person.id)


def _folded(text: str) -> str:
    """Return what all spellings have in common that the pattern takes for one."""
    return text.casefold()


def _structure(text: str) -> dict[str, JSON] | list[JSON] | None:
    """Return the JSON object or list that a text is as a whole, None where it is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def _is_date(digits: str) -> bool:
    """Tell whether a run of digits is a date, or a date with an hour."""
    day = r"(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])"
    return re.fullmatch(rf"{day}(?: \d{{1,2}})?", digits) is not None
