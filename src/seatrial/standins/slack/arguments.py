"""The arguments of a call, from a query, a form or JSON, and whether a method can take them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from seatrial.standins.slack.refusals import Refused

_NAME = re.compile(r"\w{1,64}", re.ASCII)
_TS = re.compile(r"[0-9]{10}\.[0-9]{6}")


def read(query: bytes, content_type: str, body: bytes) -> dict[str, Any]:
    """Return the arguments of a request. Raises Refused as Slack refuses a body that it cannot read."""
    found: dict[str, Any] = dict(_pairs(query))
    kind, _, parameters = (part.strip().lower() for part in content_type.partition(";"))
    if body:
        if not kind:
            raise Refused("missing_post_type")
        if "charset=" in parameters and parameters.rpartition("charset=")[2].strip('"') not in ("utf-8", "iso-8859-1"):
            raise Refused("invalid_charset")
        if kind == "application/json":
            found |= _json(body)
        elif kind == "application/x-www-form-urlencoded":
            found |= dict(_pairs(body))
        else:
            raise Refused("invalid_post_type")
    for name in found:
        if not _NAME.fullmatch(name):
            raise Refused("invalid_arg_name")
    return found


def _pairs(text: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(text))
    except ValueError as error:
        raise Refused("invalid_form_data") from error


def _json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise Refused("invalid_json") from error
    if not isinstance(value, dict):
        raise Refused("json_not_object")
    return value


class Arguments:
    """The arguments of one call of a method that knows which it needs and which it can read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def check(self, required: tuple[str, ...], unread: tuple[str, ...] = ()) -> None:
        """Raise Refused when a required one is missing, and for one that Slack reads and the stand-in does not."""
        missing = [name for name in required if self.text(name) is None]
        if missing:
            raise Refused("invalid_arguments", *(f"[ERROR] missing required field: {name}" for name in missing))
        here = [name for name in unread if self._values.get(name)]
        if here:
            raise Refused("invalid_arguments", *(f"[ERROR] the stand-in for Slack does not read: {n}" for n in here))

    def text(self, name: str) -> str | None:
        """Return an argument as text; None when it is not there. JSON's numbers count as text."""
        value = self._values.get(name)
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value)

    def needed(self, name: str) -> str:
        """Return an argument that `check` has seen."""
        return self.text(name) or ""

    def flag(self, name: str) -> bool:
        """Return whether a boolean argument is true, in one of the ways in which a form says so."""
        return self.text(name) in ("true", "1")

    def number(self, name: str, default: int, error: str, *, most: int) -> int:
        """Return a whole number from 1 to `most`. Raises Refused with this error."""
        text = self.text(name)
        if text is None:
            return default
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
            raise Refused(error)
        return int(text)

    def stamp(self, name: str, error: str) -> str | None:
        """Return a timestamp, None when it is not there. Raises Refused with this error when it is not like one."""
        text = self.text(name)
        if text and not _TS.fullmatch(text):
            raise Refused(error)
        return text or None

    def json(self, name: str, error: str) -> Any:
        """Return an argument that is JSON: as it is in a JSON body, as its text in a form. Raises Refused."""
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as problem:
            raise Refused(error) from problem
