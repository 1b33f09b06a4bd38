"""The words that ask how a turn is to be thought about. Short, and by example."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from bosun.context.escape import one_line
from bosun.context.policy import ROUTING_POLICY
from bosun.context.prompt import PromptMessage
from bosun.tool_arguments import JSON

LONGEST_ASKED: Final = 600
"""How many characters of the messages are told."""
LONGEST_REASON: Final = 60

_EXAMPLES: Final = (
    ("Thanks, that helps!", "quick", "low", "only thanks"),
    ("Compare the two plans and draft an announcement for the team.", "deep", "high", "compare and draft"),
    ("Which projects are late?", "standard", "medium", "a question"),
    ("Hello Bosun", "quick", "low", "a greeting"),
    ("Plan the move of all projects to the new office, step by step.", "deep", "high", "a plan in steps"),
    ("Remember that the demo is on Monday.", "standard", "medium", "a small task"),
)
"""The last ones weigh most. Those whose profile an app does not have are left out."""


def route_prompt(asked: str, profiles: Mapping[str, str]) -> tuple[PromptMessage, ...]:
    """Return the words of one decision. `profiles` says of each name what it is for."""
    described = "\n".join(f"- {name}: {purpose}" for name, purpose in profiles.items())
    messages = [PromptMessage("system", f"{ROUTING_POLICY}\n{described}")]
    for text, profile, reasoning, reason in _EXAMPLES:
        if profile in profiles:
            answer = {"reason": reason, "profile": profile, "reasoning": reasoning, "confidence": 0.9}
            messages += [PromptMessage("user", text), PromptMessage("assistant", json.dumps(answer))]
    return (*messages, PromptMessage("user", one_line(asked, LONGEST_ASKED)))


def route_answer(profiles: Sequence[str]) -> dict[str, JSON]:
    """Return the JSON schema of the answer. The reason comes first: what is said before it decides, decides better."""
    properties: dict[str, JSON] = {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "profile": {"type": "string", "enum": list(profiles)},
        "reasoning": {"type": "string", "enum": ["low", "medium", "high"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
