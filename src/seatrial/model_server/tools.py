"""The tools of a request: what they are called, what they take, and their worked examples.

Source of the form: https://platform.openai.com/docs/api-reference/chat/create (tools, tool_choice). Two keywords in a
tool's `parameters` show how it is used: `examples` (JSON Schema: arguments that fit) and `x-example`, one use from
beginning to end: {request, arguments, result, reply}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.model_server.bounds import self_contained
from seatrial.model_server.request import JSON, BadRequest, spelled

_EXAMPLE_FIELDS = ("request", "arguments", "result", "reply")


@dataclass(frozen=True)
class Example:
    """One use of a tool: a person asks, the tool is called, its result comes, a reply ends it."""

    request: str
    arguments: dict[str, JSON]
    result: str
    reply: str


@dataclass(frozen=True)
class Tool:
    """One tool. `parameters` is a schema of an object that stands by itself; `arguments` shows them alone."""

    name: str
    description: str
    parameters: dict[str, JSON]
    example: Example | None = None
    arguments: dict[str, JSON] | None = None


@dataclass(frozen=True)
class Choice:
    """What an answer may be: a call of one of `tools`, and a reply where `reply` says so. Never nothing."""

    tools: tuple[Tool, ...]
    reply: bool


def choice_of(body: Mapping[str, JSON]) -> Choice:
    """What the request's `tools` and `tool_choice` leave to the model. Raises BadRequest."""
    tools = tools_of(body)
    wanted = body.get("tool_choice")
    if wanted == "none" or (not tools and wanted in (None, "auto")):
        return Choice((), reply=True)
    if wanted in (None, "auto"):
        return Choice(tools, reply=True)
    if wanted == "required" and tools:
        return Choice(tools, reply=False)
    function = wanted.get("function") if isinstance(wanted, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    chosen = tuple(tool for tool in tools if tool.name == name)
    if not chosen:
        names = ", ".join(tool.name for tool in tools) or "none"
        raise BadRequest(f"The tool_choice {spelled(wanted)} does not fit the request's tools: {names}.")
    return Choice(chosen, reply=False)


def tools_of(body: Mapping[str, JSON]) -> tuple[Tool, ...]:
    """The request's tools in their order. Raises BadRequest."""
    listed = body.get("tools")
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise BadRequest("The request's 'tools' is not a list.")
    tools = tuple(_tool(each) for each in listed)
    names = [tool.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise BadRequest(f"The request names the tool '{name}' more than once.")
    return tools


def _tool(listed: JSON) -> Tool:
    function = listed.get("function") if isinstance(listed, dict) and listed.get("type") == "function" else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise BadRequest(f"A tool is not a function with a name: {spelled(listed)[:200]}")
    given = function.get("parameters") or {}
    if not isinstance(given, dict) or given.get("type", "object") != "object":
        raise BadRequest(f"The parameters of the tool '{name}' are not the schema of an object.")
    description = function.get("description")
    return Tool(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=self_contained(name, given),
        example=_example(name, given.get("x-example")),
        arguments=_arguments(given.get("examples")),
    )


def _example(name: str, given: JSON) -> Example | None:
    if given is None:
        return None
    fields = given if isinstance(given, dict) else {}
    arguments = fields.get("arguments")
    if not isinstance(arguments, dict) or any(fields.get(field) is None for field in _EXAMPLE_FIELDS):
        needed = ", ".join(_EXAMPLE_FIELDS)
        raise BadRequest(f"The x-example of the tool '{name}' needs {needed}, with an object as its arguments.")
    return Example(spelled(fields["request"]), arguments, spelled(fields["result"]), spelled(fields["reply"]))


def _arguments(given: JSON) -> dict[str, JSON] | None:
    first = given[0] if isinstance(given, list) and given else None
    return first if isinstance(first, dict) else None
