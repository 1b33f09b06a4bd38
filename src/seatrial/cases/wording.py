"""Check a document against the words that it may have, and word each mistake for the author of the file."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from seatrial.cases.document import Document, Location, Mistake
from seatrial.nearest import did_you_mean

Model = TypeVar("Model", bound=BaseModel)
Part = TypeVar("Part")


def validated(document: Document, model: type[Model], mistakes: list[Mistake]) -> Model | None:
    """Return what the document says. Where it is not valid, add every mistake and return None."""
    if not isinstance(document.data, dict):
        mistakes.append(Mistake(document.path, 1, "the file has to be a mapping of the words of a case"))
        return None
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        seen: set[tuple[int, str]] = set()
        for item in error.errors():
            line = document.line(_within(document, item["loc"]))
            message = _message(item, model, document)
            if message and (line, message) not in seen:
                seen.add((line, message))
                mistakes.append(Mistake(document.path, line, message))
        return None


def part_of(document: Document, name: str, model: type[Part]) -> Part | None:
    """Return one part of a document, None where it is not there or not valid.

    What it holds can be checked further, so that a mistake elsewhere does not hide another one here.
    """
    if not isinstance(document.data, dict) or name not in document.data:
        return None
    try:
        return TypeAdapter(model).validate_python(document.data[name])
    except ValidationError:
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
    """Word one pydantic error."""
    kind, where = item["type"], _dotted(_within(document, item["loc"]))
    last = str(item["loc"][-1]) if item["loc"] else ""
    if kind == "missing":
        missing = f"{where}.{last}" if where else last
        return f"'{missing}' is missing"
    if kind == "extra_forbidden":
        return f"'{last}' is no word here{did_you_mean(last, words_of(model))}"
    if kind == "value_error":
        text = str(item["ctx"]["error"])
        return f"'{where}': {text}" if where and f"'{where}'" not in text else text
    seen = repr(item["input"]) if not isinstance(item["input"], (dict, list)) else f"a {type(item['input']).__name__}"
    return f"'{where}': {item['msg'][0].lower()}{item['msg'][1:]}, not {seen[:120]}"


def words_of(model: type[BaseModel]) -> set[str]:
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
            fields = {name: field for name, field in current.model_fields.items() if name != "root"}
            found.update(fields)
            todo.extend(field.annotation for field in fields.values())
        else:
            todo.extend(get_args(current))
    return found
