"""Load a case with everything that it refers to, and report every mistake at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seatrial.binding import Binding, BindingFile, ChecksRecorded, Composition
from seatrial.cases.document import Document, InvalidFile, Location, Mistake, read_document
from seatrial.cases.earlier import HistoryWords, SetupWords
from seatrial.cases.model import AgentWords, CaseWords, SnapshotFixtureWords
from seatrial.cases.turns import misplaced
from seatrial.cases.wording import part_of, validated
from seatrial.history import Exchange, RecordedConversation, RecordedUnreadable, exchanges, on_slack
from seatrial.history import recorded_conversation as read_recorded
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
    recorded: RecordedConversation | None
    """What came before as a whole, instead of `history`."""
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
        for place, problem in misplaced(
            data.get("turns"), history=bool(data.get("history") or data.get("recorded_history"))
        ):
            self._mistake(("turns", *place), problem)
        snapshot, contracts = self._snapshot(data.get("snapshot"))
        composition = self._composition(named=data.get("agent") is not None)
        setup = self._setup(composition)
        history = self._history(composition)
        recorded = self._recorded(data)
        if self._mistakes or words is None or composition is None:
            raise InvalidFile(self._mistakes)
        composition = replace(composition, slack=composition.slack or _is_on_slack(words))
        if not composition.slack and (places := _held_replies(words)):
            for place in places:
                self._mistake(place, "'reply' is the moment of a delivery on Slack, and nothing of this case is there")
            raise InvalidFile(self._mistakes)
        return Case(path, words, composition, snapshot, setup, history, recorded, contracts)

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
            turns = exchanges(tuple(item.item() for item in words))
            on_slack(turns)
            return turns
        except ValueError as error:
            self._mistake(("history",), str(error))
            return ()

    def _recorded(self, data: Mapping[str, Any]) -> RecordedConversation | None:
        """Return the recorded conversation that the case begins with, when it names one and the agent would load it."""
        name = data.get("recorded_history")
        if not isinstance(name, str):
            return None
        if data.get("history"):
            self._mistake(("recorded_history",), "'recorded_history' stands instead of 'history': leave one out")
        path = self._file_below_root("recorded_history", name, "fixtures/**/*.json")
        if path is None:
            return None
        try:
            recorded = read_recorded(path)
        except RecordedUnreadable as error:
            self._mistake(("recorded_history",), str(error))
            return None
        if isinstance(self._binding, ChecksRecorded):
            for problem in self._binding.check_recorded(recorded):
                self._mistake(("recorded_history",), f"{path.as_posix()}: {problem}")
        return recorded

    def _file_below_root(self, word: str, name: str, others: str) -> Path | None:
        """Return the file that a case names; None, with a mistake that shows near names, when it is not there."""
        root = self._file.root
        path = root / name
        if path.is_file() and ".." not in Path(name).parts:
            return path
        there = [p.relative_to(root).as_posix() for p in sorted(root.glob(others))]
        self._mistake((word,), f"{word} '{name}' is no file under {root.as_posix()}{did_you_mean(name, there)}")
        return None

    def _snapshot(self, name: Any) -> tuple[Mapping[str, Any] | None, dict[str, Mapping[str, int]]]:
        """Return the data of the snapshot's fixture, and the contracts of each fixture by its path."""
        if not isinstance(name, str):
            return None, {}
        path = self._file_below_root("snapshot", name, "fixtures/**/*.yaml")
        if path is None:
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


def _is_on_slack(words: Any) -> bool:
    """Tell whether a case says anything of Slack: then the agent under test is there."""
    if isinstance(words, BaseModel):
        names = {name for name in words.model_fields_set if name.startswith("slack")}
        return bool(names) or any(_is_on_slack(getattr(words, name)) for name in words.model_fields_set)
    return isinstance(words, list) and any(_is_on_slack(item) for item in words)


def _held_replies(words: CaseWords) -> list[Location]:
    """Return the places of what a case does at the delivery of a reply."""
    return [
        ("turns", index, "during", number, "on")
        for index, turn in enumerate(words.turns)
        for number, item in enumerate(getattr(turn, "during", ()))
        if item.on == "reply"
    ]
