"""A conversation with tools as plain turns, for a model that has learnt nothing of tools.

What may be called stands in the system message; each tool's worked example follows it as turns, from the call to the
reply that ends it. With the call alone as an example, a small model calls tools for ever after a result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from seatrial.model_server.request import JSON, BadRequest, spelled, text_of
from seatrial.model_server.schema import ARGUMENTS, REPLY, TOOL
from seatrial.model_server.tools import Choice, Tool

RESULT = "Tool result: "
# What no tool is needed for: no request's own tools can show it.
_THANKS, _WELCOME = "Thank you!", "You are welcome."

Turn = dict[str, JSON]


def turns_for(messages: Sequence[JSON], choice: Choice) -> list[JSON]:
    """The messages that the model gets. Without tools, now or before, they are the request's own. Raises BadRequest."""
    said = [_message(message) for message in messages]
    if not choice.tools and not any(turn.get("role") == "tool" or turn.get("tool_calls") for turn in said):
        return list(messages)
    as_json = bool(choice.tools)
    system = [text_of(turn.get("content")) for turn in said if turn["role"] in ("system", "developer")]
    turns: list[Turn] = []
    if as_json:
        system.append(_instruction(choice))
    if system:
        turns.append({"role": "system", "content": "\n\n".join(system)})
    if as_json:
        turns += _examples(choice)
    for turn in said:
        turns += _turns(turn, as_json)
    return _alternating(turns)


def call_text(name: str, arguments: JSON) -> str:
    """A call as the model writes it."""
    return spelled({TOOL: name, ARGUMENTS: arguments})


def reply_text(text: str) -> str:
    """A reply as the model writes it."""
    return spelled({REPLY: text})


def _instruction(choice: Choice) -> str:
    what = "a tool call or a reply" if choice.reply else "a tool call"
    return "\n".join([f"Answer with one JSON object: {what}. Tools:", *map(_described, choice.tools)])


def _described(tool: Tool) -> str:
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    line = f"{tool.name}({', '.join(name if name in needed else f'{name}?' for name in names)})"
    if tool.description:
        line += f": {tool.description}"
    if tool.example is None and tool.arguments is not None:
        line += f" Example: {call_text(tool.name, tool.arguments)}"
    return line


def _examples(choice: Choice) -> list[Turn]:
    turns: list[Turn] = []
    for tool in choice.tools:
        if (example := tool.example) is not None:
            turns += [_user(example.request), _assistant(call_text(tool.name, example.arguments))]
            if choice.reply:
                turns += [_user(RESULT + example.result), _assistant(reply_text(example.reply))]
    if choice.reply:
        turns += [_user(_THANKS), _assistant(reply_text(_WELCOME))]
    return turns


def _turns(message: Turn, as_json: bool) -> list[Turn]:
    role, text = message["role"], text_of(message.get("content"))
    if role == "user":
        return [_user(text)]
    if role == "tool":
        return [_user(RESULT + text)]
    if role == "assistant":
        calls = message.get("tool_calls")
        written = [_assistant(_called(call)) for call in calls] if isinstance(calls, list) else []
        # What a model says beside its call has no place in the answer's form; the call carries the meaning.
        spoken = [_assistant(reply_text(text) if as_json else text)] if text and not (as_json and written) else []
        return [*spoken, *written]
    return []


def _called(call: JSON) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str):
        raise BadRequest(f"A tool call of the conversation names no function: {spelled(call)[:200]}")
    arguments = function.get("arguments")
    try:
        value: JSON = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = arguments  # an agent may keep what a model once wrote wrongly
    return call_text(name, value)


def _message(message: JSON) -> Turn:
    if not isinstance(message, dict) or message.get("role") not in ("system", "developer", "user", "assistant", "tool"):
        raise BadRequest(f"A message has no role that is known: {spelled(message)[:200]}")
    return message


def _user(text: str) -> Turn:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Turn:
    return {"role": "assistant", "content": text}


def _alternating(turns: Sequence[Turn]) -> list[JSON]:
    """Neighbours of one role as one turn: the chat templates of some models take nothing else."""
    joined: list[Turn] = []
    for turn in turns:
        if joined and joined[-1]["role"] == turn["role"]:
            joined[-1] = {**turn, "content": f"{joined[-1]['content']}\n{turn['content']}"}
        else:
            joined.append(turn)
    return list(joined)
