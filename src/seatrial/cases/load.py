"""Load a case with everything that it refers to, and report every mistake at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.binding import Binding, BindingFile, Composition
from seatrial.cases.document import Document, InvalidFile, Location, Mistake, read_document
from seatrial.cases.earlier import HistoryWords, SetupWords
from seatrial.cases.model import AgentWords, CaseWords, SnapshotFixtureWords
from seatrial.cases.turns import misplaced
from seatrial.cases.wording import part_of, validated
from seatrial.history import Exchange, exchanges
from seatrial.nearest import did_you_mean


@dataclass(frozen=True)
class Case:
    """A case that is ready to run."""

    path: Path
    words: CaseWords
    composition: Composition
    snapshot: Mapping[str, Any] | None
    setup: tuple[tuple[str, Mapping[str, Any]], ...]
    """What is stored before the first turn: kind and data of each piece, in the case's order."""
    history: tuple[Exchange, ...]
    fixture_contracts: Mapping[str, Mapping[str, int]]
    """The contracts that each fixture was written for, by the fixture's path."""

    @property
    def recording_path(self) -> Path:
        """Where the case's recording lies: beside it."""
        return recording_path(self.path)


def recording_path(case: Path) -> Path:
    """Return where the recording of a case lies: ``x.yaml`` has ``x.recording.json`` beside it."""
    return case.with_suffix(".recording.json")


def load_case(path: Path, binding_file: BindingFile, binding: Binding) -> Case:
    """Load a case. Raises InvalidFile with every mistake in it and in its fixtures."""
    return _Loading(read_document(path), binding_file, binding).case(path)


class _Loading:
    """One load. Each part is checked by itself, so that a mistake in one does not hide those of another."""

    def __init__(self, document: Document, binding_file: BindingFile, binding: Binding) -> None:
        self._document = document
        self._file = binding_file
        self._binding = binding
        self._mistakes = list(document.mistakes)

    def case(self, path: Path) -> Case:
        words = validated(self._document, CaseWords, self._mistakes)
        data = self._document.data if isinstance(self._document.data, dict) else {}
        for place, problem in misplaced(data.get("turns"), history=bool(data.get("history"))):
            self._mistake(("turns", *place), problem)
        snapshot, contracts = self._snapshot(data.get("snapshot"))
        composition = self._composition(named=data.get("agent") is not None)
        setup = self._setup(composition)
        history = self._history(composition)
        if self._mistakes or words is None or composition is None:
            raise InvalidFile(self._mistakes)
        return Case(path, words, composition, snapshot, setup, history, contracts)

    def _mistake(self, location: Location, message: str) -> None:
        self._mistakes.append(Mistake(self._document.path, self._document.line(location), message))

    def _composition(self, *, named: bool) -> Composition | None:
        """Return the agent under test; None when it cannot be told, and nothing about it can be checked."""
        if not named:
            return self._file.default
        agent = part_of(self._document, "agent", AgentWords)
        if agent is None:
            return None
        for index, plugin in enumerate(agent.plugins):
            if plugin not in self._file.plugins:
                hint = did_you_mean(plugin, self._file.plugins)
                self._mistake(("agent", "plugins", index), f"there is no plugin '{plugin}'{hint}")
        for problem in self._binding.check_limits(agent.limits):
            self._mistake(("agent", "limits"), problem)
        if not set(agent.plugins) <= set(self._file.plugins):
            return None
        return Composition(tuple(agent.plugins), dict(agent.limits))

    def _setup(self, composition: Composition | None) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        words = part_of(self._document, "setup", list[SetupWords]) or []
        pieces = tuple(item.piece() for item in words)
        if composition is not None:
            for index, (kind, data) in enumerate(pieces):
                for problem in self._binding.check_setup(kind, data, composition):
                    self._mistake(("setup", index), problem)
        return pieces

    def _history(self, composition: Composition | None) -> tuple[Exchange, ...]:
        words = part_of(self._document, "history", list[HistoryWords]) or []
        tools = ((index, *each) for index, item in enumerate(words) for each in enumerate(item.tools))
        if composition is not None:
            for index, number, tool in tools:
                for problem in self._binding.check_tool_call(tool.name, tool.input, composition):
                    self._mistake(("history", index, "tools", number), problem)
        try:
            return exchanges(tuple(item.item() for item in words))
        except ValueError as error:
            self._mistake(("history",), str(error))
            return ()

    def _snapshot(self, name: Any) -> tuple[Mapping[str, Any] | None, dict[str, Mapping[str, int]]]:
        """Return the data of the snapshot's fixture, and the contracts of each fixture by its path."""
        if not isinstance(name, str):
            return None, {}
        root = self._file.root
        path = root / name
        if not path.is_file() or ".." in Path(name).parts:
            there = [p.relative_to(root).as_posix() for p in sorted(root.glob("fixtures/**/*.yaml"))]
            problem = f"snapshot '{name}' is no file under {root.as_posix()}{did_you_mean(name, there)}"
            self._mistake(("snapshot",), problem)
            return None, {}
        try:
            fixture = read_document(path)
        except InvalidFile as error:
            self._mistakes.extend(error.mistakes)
            return None, {}
        self._mistakes.extend(fixture.mistakes)
        words = validated(fixture, SnapshotFixtureWords, self._mistakes)
        if words is None:
            return None, {}
        for problem in self._binding.check_snapshot(words.snapshot):
            self._mistakes.append(Mistake(fixture.path, fixture.line(("snapshot",)), problem))
        return words.snapshot, {path.as_posix(): words.contracts}
