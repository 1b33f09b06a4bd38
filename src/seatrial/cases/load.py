"""Load a case with everything that it refers to, and report every mistake at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from seatrial.binding import Binding, BindingFile, Composition
from seatrial.cases.document import Document, InvalidFile, Location, Mistake, read_document
from seatrial.cases.model import CaseWords, HistoryWords, SnapshotFixtureWords
from seatrial.history import Exchange, HistoryItem, exchanges, reply
from seatrial.inputs import DEFAULT_AUTHOR, web_message
from seatrial.nearest import did_you_mean

Words = TypeVar("Words", bound=BaseModel)


@dataclass(frozen=True)
class Case:
    """A case that is ready to run."""

    path: Path
    words: CaseWords
    composition: Composition
    snapshot: Mapping[str, Any] | None
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
    document = read_document(path)
    mistakes = list(document.mistakes)
    words = _validated(document, CaseWords, mistakes)
    snapshot: SnapshotFixtureWords | None = None
    contracts: dict[str, Mapping[str, int]] = {}
    if isinstance(document.data, dict) and isinstance(document.data.get("snapshot"), str):
        snapshot = _snapshot(document, binding_file.root, binding, mistakes)
        if snapshot is not None:
            contracts[(binding_file.root / document.data["snapshot"]).as_posix()] = snapshot.contracts
    composition = _composition(document, words, binding_file, binding, mistakes)
    history: tuple[Exchange, ...] = ()
    if words is not None:
        try:
            history = exchanges(tuple(_history_item(item) for item in words.history))
        except ValueError as error:
            mistakes.append(Mistake(document.path, document.line(("history",)), str(error)))
    if mistakes or words is None:
        raise InvalidFile(mistakes)
    data = None if snapshot is None else snapshot.snapshot
    return Case(path, words, composition, data, history, contracts)


def _history_item(words: HistoryWords) -> HistoryItem:
    if words.reply is not None:
        return reply(words.reply)
    return web_message(words.web_message or "", author=words.author or DEFAULT_AUTHOR)


def _composition(
    document: Document, words: CaseWords | None, binding_file: BindingFile, binding: Binding, mistakes: list[Mistake]
) -> Composition:
    if words is None or words.agent is None:
        return binding_file.default
    for index, plugin in enumerate(words.agent.plugins):
        if plugin not in binding_file.plugins:
            line = document.line(("agent", "plugins", index))
            hint = did_you_mean(plugin, binding_file.plugins)
            mistakes.append(Mistake(document.path, line, f"there is no plugin '{plugin}'{hint}"))
    for problem in binding.check_limits(words.agent.limits):
        mistakes.append(Mistake(document.path, document.line(("agent", "limits")), problem))
    return Composition(tuple(words.agent.plugins), dict(words.agent.limits))


def _snapshot(document: Document, root: Path, binding: Binding, mistakes: list[Mistake]) -> SnapshotFixtureWords | None:
    name = document.data["snapshot"]
    path = root / name
    line = document.line(("snapshot",))
    if not path.is_file() or ".." in Path(name).parts:
        there = [p.relative_to(root).as_posix() for p in sorted(root.glob("fixtures/**/*.yaml"))]
        mistakes.append(
            Mistake(
                document.path, line, f"snapshot '{name}' is no file under {root.as_posix()}{did_you_mean(name, there)}"
            )
        )
        return None
    try:
        fixture = read_document(path)
    except InvalidFile as error:
        mistakes.extend(error.mistakes)
        return None
    mistakes.extend(fixture.mistakes)
    words = _validated(fixture, SnapshotFixtureWords, mistakes)
    if words is not None:
        for problem in binding.check_snapshot(words.snapshot):
            mistakes.append(Mistake(fixture.path, fixture.line(("snapshot",)), problem))
    return words


def _validated(document: Document, model: type[Words], mistakes: list[Mistake]) -> Words | None:
    if not isinstance(document.data, dict):
        mistakes.append(Mistake(document.path, 1, "the file has to be a mapping of the words of a case"))
        return None
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        seen: set[tuple[int, str]] = set()
        for item in error.errors():
            location = _within(document, item["loc"])
            line = document.line(location)
            message = _message(item, model, document)
            if message and (line, message) not in seen:
                seen.add((line, message))
                mistakes.append(Mistake(document.path, line, message))
        return None


def _within(document: Document, loc: tuple[int | str, ...]) -> Location:
    """Drop the parts of a pydantic location that name a branch of a union, not a place in the file."""
    location: Location = ()
    for part in loc:
        if (*location, part) in document.lines:
            location = (*location, part)
    return location


def _dotted(location: Location) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in location)


def _message(item: Any, model: type[BaseModel], document: Document) -> str:
    """Word one pydantic error for the author of the file."""
    kind, where = item["type"], _dotted(_within(document, item["loc"]))
    last = str(item["loc"][-1]) if item["loc"] else ""
    if kind == "missing":
        missing = f"{where}.{last}" if where else last
        return f"'{missing}' is missing"
    if kind == "extra_forbidden":
        return f"'{last}' is no word here{did_you_mean(last, _words_of(model))}"
    if kind == "value_error":
        text = str(item["ctx"]["error"])
        return f"'{where}': {text}" if where and f"'{where}'" not in text else text
    seen = repr(item["input"]) if not isinstance(item["input"], (dict, list)) else f"a {type(item['input']).__name__}"
    return f"'{where}': {item['msg'][0].lower()}{item['msg'][1:]}, not {seen[:120]}"


def _words_of(model: type[BaseModel]) -> set[str]:
    """Return every word of a model and of the models inside it."""
    found: set[str] = set()
    todo: list[Any] = [model]
    done: set[int] = set()
    while todo:
        current = todo.pop()
        if id(current) in done:
            continue
        done.add(id(current))
        if isinstance(current, type) and issubclass(current, BaseModel):
            for name, field in current.model_fields.items():
                found.add(name)
                todo.append(field.annotation)
        else:
            todo.extend(get_args(current))
    return found
