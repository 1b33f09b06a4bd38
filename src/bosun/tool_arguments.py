"""The arguments of a tool call: JSON text as a model wrote it, read with care."""

from __future__ import annotations

import json
import math
from typing import Final, NoReturn, TypeAlias

from bosun.text import storable

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

DEEPEST: Final = 20
"""How deep arguments may be nested."""


class ArgumentsUnreadable(ValueError):
    """The text is no JSON object that can be kept; the message ends the sentence "the arguments are"."""


def read_arguments(text: str) -> dict[str, JSON]:
    """Return the object that the text is; no text at all means no arguments.

    What is returned can be stored as JSON: its numbers are finite, its text has neither NUL nor lone surrogates.
    Raises `ArgumentsUnreadable`.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        kept = _kept(value, DEEPEST)
    except RecursionError as error:
        raise ArgumentsUnreadable("nested too deeply") from error
    except ArgumentsUnreadable:
        raise
    except ValueError as error:
        raise ArgumentsUnreadable("not valid JSON") from error
    if not isinstance(kept, dict):
        raise ArgumentsUnreadable("not a JSON object")
    return kept


def _kept(value: JSON, deeper: int) -> JSON:
    if isinstance(value, str):
        return storable(value)
    if not isinstance(value, (list, dict)):
        return value
    if deeper == 0:
        raise ArgumentsUnreadable("nested too deeply")
    if isinstance(value, list):
        return [_kept(each, deeper - 1) for each in value]
    return {storable(key): _kept(each, deeper - 1) for key, each in value.items()}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number
