"""What makes two model requests the same request.

The key is a hash of the key schema's version, method, path, role, conversation and the whole JSON body in
canonical form. Nothing is left out unless it is named in VOLATILE_FIELDS, so a field that nobody thought of
makes a different key and never a wrong answer.
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import NoReturn, TypeAlias, Union

JSON: TypeAlias = Union[bool, int, float, str, "list[JSON]", "dict[str, JSON]", None]

# Part of every key: raise it when canonical_json or the key's parts change; recordings must then be made anew.
KEY_SCHEMA = 1

# Levels of lists and objects in a body: far above what requests have, far below what makes a reader fail. A recording
# wraps bodies in a few levels of its own.
MAX_DEPTH = 100
MAX_FILE_DEPTH = MAX_DEPTH + 20

# Fields at the top of a request body that differ from run to run and do not change what the model says. Empty on
# purpose: requests are stable at their source. Each entry needs a comment that says why the source cannot be.
VOLATILE_FIELDS: tuple[str, ...] = ()


def parse_json(data: bytes, *, max_depth: int = MAX_DEPTH) -> JSON:
    """Read JSON as strictly as RFC 8259 allows.

    It must be UTF-8, without NaN or infinity, without a name twice in one object, without half a surrogate pair, and
    not nested deeper than `max_depth`. Raises ValueError with a sentence that says what is wrong.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from error
    try:
        value: JSON = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_fraction)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at line {error.lineno} column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    try:
        canonical_json(value, max_depth=max_depth)
    except UnicodeEncodeError as error:
        raise ValueError("it holds half of a surrogate pair, which is not text") from error
    return value


def canonical_json(value: object, *, max_depth: int = MAX_FILE_DEPTH) -> bytes:
    """Write a JSON value in the one form that all spellings of it share.

    Names are sorted by code point; there is no whitespace; text is ASCII with escapes and is not normalized, so that
    composed and decomposed letters differ. Numbers are equal when they are the same number (1, 1.0 and 10e-1; 0 and
    -0.0): one written without fraction and exponent counts exactly, any other as the double that JSON readers make of
    it. A boolean is never a number.

    Raises ValueError for NaN, infinity, half a surrogate pair, nesting deeper than `max_depth`, and anything that
    JSON has no form for.
    """
    parts: list[str] = []
    _write(value, parts, max_depth)
    return "".join(parts).encode("ascii")


def request_key(*, method: str, path: str, role: str, conversation: int, body: object) -> str:
    """The key of a request: 64 hexadecimal digits. `conversation` is its ordinal in the trial, from 1."""
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in VOLATILE_FIELDS}
    parts = {
        "key_schema": KEY_SCHEMA,
        "method": method,
        "path": path,
        "role": role,
        "conversation": conversation,
        "body": body,
    }
    return sha256(canonical_json(parts)).hexdigest()


def _write(value: object, parts: list[str], depth: int) -> None:
    if depth < 0:
        raise ValueError("it is nested too deeply")
    if value is None or value is True or value is False:
        parts.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, str):
        parts.append(_text(value))
    elif isinstance(value, (int, float)):
        parts.append(_number(value))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            parts.append("," if index else "[")
            _write(item, parts, depth - 1)
        parts.append("]" if value else "[]")
    elif isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a name in an object must be text")
        for index, name in enumerate(sorted(value)):
            parts.append("," if index else "{")
            parts.append(_text(name))
            parts.append(":")
            _write(value[name], parts, depth - 1)
        parts.append("}" if value else "{}")
    else:
        raise ValueError(f"a {type(value).__name__} has no form in JSON")


def _text(value: str) -> str:
    value.encode("utf-8")  # UnicodeEncodeError, a ValueError, for half a surrogate pair
    return json.dumps(value)


def _number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number in JSON")
    return str(int(value)) if value == int(value) else repr(value)


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it names '{twice}' twice in one object")
    return members


def _fraction(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"it holds the number {text}, which is too large")
    return number


def _constant(text: str) -> NoReturn:
    raise ValueError(f"it holds {text}, which is not a number in JSON")
