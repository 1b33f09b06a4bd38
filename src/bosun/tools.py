"""Tools as data: what the model may call, what a call changes, and one worked example of each.

A plugin declares its tools; a turn offers them, has each call decided on and runs it (`turn/tool_calls.py`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from bosun.tool_arguments import JSON, ArgumentsUnreadable, read_arguments

Effect: TypeAlias = Literal["read", "write", "external", "destructive"]
"""What a call does at most: looks; changes what Bosun keeps; acts on somebody else's system; cannot be undone."""

Touches: TypeAlias = Literal["own_memory", "conversation", "other"]
"""What a call that does more than read would change: what is kept for the actor alone, what stands in the conversation
that it is made in, as a reply does, or anything else."""

Arguments = TypeVar("Arguments", bound=BaseModel)

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What a function may be called: https://platform.openai.com/docs/api-reference/chat/create (tools)."""


class ToolFailed(Exception):
    """A call could not be done. The message is for the model: what is wrong, in one sentence."""


@dataclass(frozen=True)
class Example:
    """One use of a tool: a person asks, the tool is called, its result comes, a reply ends it."""

    request: str
    arguments: dict[str, JSON]
    result: str
    reply: str


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """For whom a call runs. The actor is who asked; a tool acts for nobody else."""

    conversation_id: str
    account_id: str
    actor_id: str
    turn_id: str
    call_id: str


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[Arguments]):
    """A tool of a plugin.

    `run` gets arguments that fit, and returns what the model reads; it raises `ToolFailed` for what the model
    should know about. Raises `ValueError` for a name that no model can call, and for an example that does not fit.
    """

    name: str
    description: str
    arguments: type[Arguments]
    effect: Effect
    example: Example
    run: Callable[[ToolContext, Arguments], Awaitable[str]]
    touches: Touches = "other"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the tool name {self.name!r} does not fit {_NAME.pattern}")
        try:
            self.arguments.model_validate(self.example.arguments)
        except ValidationError as error:
            raise ValueError(f"the example of the tool {self.name!r} does not fit: {_problems(error)}") from error

    def parse(self, text: str) -> Arguments:
        """Read the JSON text that the model wrote. Raises `ToolFailed` with what is wrong with it."""
        try:
            return self.arguments.model_validate(read_arguments(text))
        except ArgumentsUnreadable as error:
            raise ToolFailed(f"the arguments are {error}") from error
        except ValidationError as error:
            raise ToolFailed(f"the arguments do not fit: {_problems(error)}") from error

    def schema(self) -> dict[str, JSON]:
        """Return the tool as an OpenAI function tool.

        `parameters` carries the worked example: `examples` (JSON Schema) for the arguments alone, and `x-example`
        from the request to the reply.
        """
        example = self.example
        parameters: dict[str, JSON] = {
            **_told(self.arguments.model_json_schema()),
            "examples": [example.arguments],
            "x-example": dict(vars(example)),
        }
        function: dict[str, JSON] = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


AnyTool: TypeAlias = Tool[Any]
"""A tool whose arguments' type only the tool itself knows."""


def _told(schema: dict[str, Any]) -> dict[str, JSON]:
    """Keep of a model's schema what is meant for whoever calls: a class' docstring is for the reader of the code."""
    kept = _without_titles(schema)
    for model in (kept, *kept.get("$defs", {}).values()):
        model.pop("description", None)
    return kept


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out the titles that pydantic makes of names: a model pays for each word."""
    kept = {key: value for key, value in schema.items() if key != "title"}
    for named in ("properties", "$defs"):
        if named in kept:
            kept[named] = {name: _without_titles(each) for name, each in kept[named].items()}
    for several in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if several in kept:
            kept[several] = [_without_titles(each) for each in kept[several]]
    for one in ("items", "additionalProperties"):
        if isinstance(kept.get(one), dict):
            kept[one] = _without_titles(kept[one])
    return kept


def _problems(error: ValidationError) -> str:
    """Name each argument that is wrong, without pydantic's pages and the values."""
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'all'}: {each['msg']}" for each in error.errors())
