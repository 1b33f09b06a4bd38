"""Schemas made ready for the grammar that holds a small model: references resolved, texts bounded.

A bound is needed because a small model that has begun to repeat itself never closes its quotes.
"""

from __future__ import annotations

from seatrial.model_server.request import JSON, BadRequest

MOST_CHARACTERS = 300  # of a text whose schema sets no limit itself
_MOST_DEPTH = 20
_BOUNDED_OTHERWISE = ("maxLength", "enum", "const", "pattern", "format")
# What says nothing about which values fit, and costs a prompt or a grammar.
_DROPPED = ("$defs", "definitions", "title", "description", "default", "examples", "x-example")
# Under these keywords the names are a tool's own, and the values are schemas.
_NAMED = ("properties", "patternProperties")


def self_contained(name: str, parameters: dict[str, JSON]) -> dict[str, JSON]:
    """The schema of the tool `name` without references and remarks: an object that takes only what it names.

    Raises BadRequest when a reference leads nowhere, outside, or back to itself.
    """
    schema = _Inliner(name, parameters).schema(parameters, depth=0)
    ready: dict[str, JSON] = {"type": "object", "properties": {}, "additionalProperties": False}
    return {**ready, **schema}


class _Inliner:
    def __init__(self, name: str, root: dict[str, JSON]) -> None:
        self._name, self._root = name, root

    def schema(self, schema: dict[str, JSON], *, depth: int) -> dict[str, JSON]:
        if depth > _MOST_DEPTH:
            raise BadRequest(f"The parameters of the tool '{self._name}' refer to themselves or are nested too deeply.")
        if "$ref" in schema:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            return self.schema({**self._target(schema["$ref"]), **beside}, depth=depth + 1)
        made: dict[str, JSON] = {}
        for key, value in schema.items():
            if key in _DROPPED:
                continue
            if key in _NAMED and isinstance(value, dict):
                made[key] = {name: self._value(each, depth + 1) for name, each in value.items()}
            elif key in ("enum", "const"):
                made[key] = value
            else:
                made[key] = self._value(value, depth + 1)
        kind = made.get("type")
        takes_text = kind == "string" or (isinstance(kind, list) and "string" in kind)
        if takes_text and not any(key in made for key in _BOUNDED_OTHERWISE):
            made["maxLength"] = max(MOST_CHARACTERS, _number(made.get("minLength")))
        return made

    def _value(self, value: JSON, depth: int) -> JSON:
        if isinstance(value, dict):
            return self.schema(value, depth=depth)
        if isinstance(value, list):
            return [self._value(each, depth) for each in value]
        return value

    def _target(self, reference: JSON) -> dict[str, JSON]:
        found: JSON = self._root if isinstance(reference, str) and reference.startswith("#/") else None
        for step in str(reference)[2:].split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise BadRequest(f"The parameters of the tool '{self._name}' refer to '{reference}', which is not there.")
        return found


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0
