"""Rooms and doors: the types of the table in `house`, and the check of import statements against it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rules.finding import Finding
from rules.names import within

TABLE = "tests/structure/rules/house.py"
EVERYTHING = "**"
EACH_CHILD = "*"


@dataclass(frozen=True)
class Package:
    """A top-level package, the folder that holds it, and the third-party packages that none of its rooms may
    use."""

    name: str
    folder: str
    may_not: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Room:
    """One row of the table.

    `name` ending in `.*` stands for each child of a package that has no row of its own: such children are
    rooms apart from each other. `may_use` are doors (dotted prefixes; `bosun.**` is the whole package),
    `may_not` wins over them and may name third parties. `outside` lists the only third parties that the room
    may use; None leaves them open. An `exact` room is that one module alone.
    """

    name: str
    may_use: tuple[str, ...]
    why: str
    may_not: tuple[str, ...] = ()
    outside: tuple[str, ...] | None = None
    exact: bool = False


@dataclass(frozen=True)
class Edge:
    """One import statement: who, what (a third party by its top-level name), and where it stands."""

    importer: str
    imported: str
    path: str
    line: int


class House:
    """The table, ready to be asked."""

    def __init__(self, rooms: Sequence[Room], packages: Sequence[Package]) -> None:
        self._rooms = {room.name: room for room in rooms}
        self._packages = {package.name: package for package in packages}

    def room_of(self, module: str) -> tuple[str, Room] | None:
        """The room that a module is in, under the name that tells it from its neighbours; None when the table
        has no place for it."""
        exact = self._rooms.get(module)
        if exact is not None:
            return module, exact
        parts = module.split(".")
        for length in range(len(parts) - 1, 0, -1):
            prefix = ".".join(parts[:length])
            row = self._rooms.get(prefix)
            if row is not None and not row.exact:
                return prefix, row
            each = self._rooms.get(f"{prefix}.{EACH_CHILD}")
            if each is not None:
                return ".".join(parts[: length + 1]), each
        return None

    def is_first_party(self, module: str) -> bool:
        return module.split(".")[0] in self._packages

    def homeless(self, modules: Iterable[tuple[str, str]]) -> list[Finding]:
        """(module, path) pairs that no row of the table takes in."""
        why = "a room without a place in the table has no rules: who uses it, and what it uses, goes unseen"
        return [
            Finding(
                path,
                0,
                f"is the module {module}, which is in no room",
                why,
                f"say in {TABLE} where it belongs and what it may use",
            )
            for module, path in modules
            if self.is_first_party(module) and self.room_of(module) is None
        ]

    def closed_doors(self, edges: Iterable[Edge]) -> list[Finding]:
        """All imports that the table does not allow."""
        return sorted({finding for edge in edges for finding in self._check(edge)})

    def _check(self, edge: Edge) -> Iterator[Finding]:
        home = self.room_of(edge.importer)
        if home is None:
            return  # `homeless` says so
        name, room = home
        if self.is_first_party(edge.imported):
            target = self.room_of(edge.imported)
            if target is None or target[0] == name or self._open(room, edge.imported):
                return
            yield self._closed(edge, name, room, f"the open doors of {name} are: {', '.join(_doors(room)) or 'none'}")
        elif edge.imported not in sys.stdlib_module_names:
            yield from self._third_party(edge, name, room)

    def _third_party(self, edge: Edge, name: str, room: Room) -> Iterator[Finding]:
        package = self._packages[edge.importer.split(".")[0]]
        top = edge.imported.split(".")[0]
        if top in package.may_not:
            yield Finding(edge.path, edge.line, f"imports {top}", package.why, f"keep {top} out of {package.name}")
        elif top in room.may_not or (room.outside is not None and top not in room.outside):
            allowed = (
                "the standard library" if not room.outside else f"the standard library and {', '.join(room.outside)}"
            )
            cure = f"{name} may use {allowed}" if room.outside is not None else f"keep {top} out of {name}"
            yield Finding(edge.path, edge.line, f"imports {top}", room.why, cure)

    def _open(self, room: Room, imported: str) -> bool:
        if any(self._leads_to(door, imported) for door in room.may_not):
            return False
        return any(self._leads_to(door, imported) for door in room.may_use)

    def _leads_to(self, door: str, imported: str) -> bool:
        if door.endswith(f".{EVERYTHING}"):
            return within(imported, door.removesuffix(f".{EVERYTHING}"))
        row = self._rooms.get(door)
        return imported == door if row is not None and row.exact else within(imported, door)

    @staticmethod
    def _closed(edge: Edge, name: str, room: Room, doors: str) -> Finding:
        ways = "Move the code, or have what is needed given by the place of composition"
        cure = f"{doors}. {ways}; a better cut changes {TABLE}"
        return Finding(edge.path, edge.line, f"imports {edge.imported} into {name}", room.why, cure)


def _doors(room: Room) -> list[str]:
    return sorted({door.removesuffix(f".{EVERYTHING}") for door in room.may_use})


def cycle(rooms: Sequence[Room]) -> tuple[str, ...]:
    """Rooms whose doors lead in a circle, for a table that does not point one way; empty when it does.

    A door to a part of a room counts as a door to that part's own row where it has one, else to the row that
    the part lies in.
    """
    house = House(rooms, [])
    arrows: dict[str, list[str]] = {}
    for room in rooms:
        targets = []
        for door in room.may_use:
            target = None if door.endswith(EVERYTHING) else house.room_of(door)
            if target is not None and target[1] is not room:
                targets.append(target[1].name)
        arrows[room.name] = targets
    done: set[str] = set()
    for start in arrows:
        found = _walk(start, arrows, (), done)
        if found:
            return found
    return ()


def _walk(name: str, arrows: dict[str, list[str]], way: tuple[str, ...], done: set[str]) -> tuple[str, ...]:
    if name in way:
        return (*way[way.index(name) :], name)
    if name in done:
        return ()
    for target in arrows[name]:
        found = _walk(target, arrows, (*way, name), done)
        if found:
            return found
    done.add(name)
    return ()
