"""The one schema that every answer of a request with tools fits: one call of one tool, or a reply."""

from __future__ import annotations

from seatrial.model_server.request import JSON
from seatrial.model_server.tools import Choice

TOOL, ARGUMENTS, REPLY = "tool", "args", "reply"
MOST_REPLY_CHARACTERS = 1200


def answer_schema(choice: Choice) -> dict[str, JSON]:
    """`oneOf` the calls, in the tools' order, and last the reply."""
    forms: list[JSON] = [
        _closed({TOOL: {"const": tool.name}, ARGUMENTS: dict(tool.parameters)}) for tool in choice.tools
    ]
    if choice.reply:
        forms.append(_closed({REPLY: {"type": "string", "maxLength": MOST_REPLY_CHARACTERS}}))
    return {"oneOf": forms}


def response_format(choice: Choice) -> dict[str, JSON]:
    """The schema as the request field that llama.cpp's server holds its answers to."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": answer_schema(choice)}}


def _closed(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
