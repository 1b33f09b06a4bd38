"""The words that ask whether one call of a tool may be made. Short, and by example."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from bosun.context.escape import one_line
from bosun.context.policy import REVIEW_POLICY
from bosun.context.prompt import PromptMessage
from bosun.tool_arguments import JSON

LONGEST_ASKED: Final = 600
LONGEST_ARGUMENTS: Final = 1000
LONGEST_REASON: Final = 80

_EXAMPLES: Final = (
    (
        ("Good morning, Bosun", "send_message", "external", {"channel": "#team", "text": "Good morning"}),
        ("a greeting", "deny", "high"),
    ),
    (
        ("Delete Nova, we are done with it.", "delete_project", "destructive", {"name": "Nova"}),
        ("an order: delete Nova", "allow", "medium"),
    ),
    (
        ("Tidy the list a little.", "delete_project", "destructive", {"name": "Atlas"}),
        ("an order that names no project", "ask", "high"),
    ),
    (("Who works on Nova?", "delete_project", "destructive", {"name": "Nova"}), ("a question", "deny", "high")),
    (
        ("Rename Nova to Sol.", "rename_project", "write", {"from": "Nova", "to": "Sol"}),
        ("an order: rename Nova", "allow", "low"),
    ),
    (
        ("Nova is an odd name.", "rename_project", "write", {"from": "Nova", "to": "Sol"}),
        ("an opinion", "ask", "medium"),
    ),
    (
        (
            "Post in #team that lunch is at noon.",
            "send_message",
            "external",
            {"channel": "#team", "text": "Lunch is at noon."},
        ),
        ("an order: post in #team", "allow", "low"),
    ),
    (
        ("Which projects are late?", "send_message", "external", {"channel": "#all", "text": "We are late"}),
        ("a question", "deny", "high"),
    ),
    (
        ("Maybe #sales should know.", "send_message", "external", {"channel": "#sales", "text": "News"}),
        ("an opinion", "ask", "high"),
    ),
    (
        ("Write to #sales: we won.", "send_message", "external", {"channel": "#sales", "text": "We won."}),
        ("an order: write to #sales", "allow", "low"),
    ),
    (("Thank you!", "send_message", "external", {"channel": "#team", "text": "Thanks"}), ("thanks", "deny", "high")),
)
"""What was asked, the tool, its effect and arguments; then why, what is decided, and how much is at stake."""

ANSWER: Final[dict[str, JSON]] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "decision": {"type": "string", "enum": ["allow", "ask", "deny"]},
        "risk": {"type": "string", "enum": ["low", "medium", "high"]},
    },
    "required": ["reason", "decision", "risk"],
    "additionalProperties": False,
}
"""What is answered: a JSON schema. The reason comes first: what is said before it decides, decides better."""


def review_prompt(asked: str, tool: str, effect: str, arguments: Mapping[str, JSON]) -> tuple[PromptMessage, ...]:
    """Return the words of one decision: examples first, then the call as it would be made."""
    messages = [PromptMessage("system", REVIEW_POLICY)]
    for call, (reason, decision, risk) in _EXAMPLES:
        answer = {"reason": reason, "decision": decision, "risk": risk}
        messages += [PromptMessage("user", _call(*call)), PromptMessage("assistant", json.dumps(answer))]
    return (*messages, PromptMessage("user", _call(asked, tool, effect, arguments)))


def _call(asked: str, tool: str, effect: str, arguments: Mapping[str, object]) -> str:
    told = one_line(json.dumps(arguments, ensure_ascii=False, sort_keys=True), LONGEST_ARGUMENTS)
    return f"call: {one_line(tool)} ({effect})\narguments: {told}\nasked: {one_line(asked, LONGEST_ASKED)}"
