"""The words that ask whether Bosun should answer what was not said to it.

Short, and by example: a small model learns the difference from eight messages better than from a page of rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bosun.context.escape import one_line
from bosun.context.policy import LISTENING_POLICY
from bosun.context.prompt import PromptMessage
from bosun.log.events import NO_REPLY
from bosun.log.messages import HistoryMessage, InboundMessage
from bosun.tool_arguments import JSON

MOST_RECENT: Final = 6
"""How many messages before the batch are told."""
LONGEST_LINE: Final = 300
MOST_IN_BATCH: Final = 5

_BEFORE: Final = "Morgan: Which projects are late?\nBosun: Only Delta is late.\n>> "
_EXAMPLES: Final = (
    ("Priya: Bosun does not have to write here any more.", False, True),
    ("Eve: Since when is it late?", True, False),
    ("Eve: Morgan, can you call them?", False, False),
    ("Priya: Is Echo late, too?", True, False),
    ("Priya: I will be in the office at ten.", False, False),
    ("Eve: Write a note about it, please.", True, False),
    ("Morgan: I agree with Priya.", False, False),
    ("Morgan: Can you tell us who works on it?", True, False),
)
"""The last ones weigh most: what a small model should do seldom comes first."""

ANSWER: Final[dict[str, JSON]] = {
    "type": "object",
    "properties": {
        "should_reply": {"type": "boolean"},
        "should_unsubscribe": {"type": "boolean"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["should_reply", "should_unsubscribe", "confidence"],
    "additionalProperties": False,
}
"""What the classifier answers: a JSON schema."""


def reply_prompt(batch: Sequence[InboundMessage], recent: Sequence[HistoryMessage]) -> tuple[PromptMessage, ...]:
    """Return the words of one decision: examples first, then what was said before, and the batch."""
    messages = [PromptMessage("system", LISTENING_POLICY)]
    for said, reply, unsubscribe in _EXAMPLES:
        messages.append(PromptMessage("user", _BEFORE + said))
        messages.append(PromptMessage("assistant", _answered(reply, unsubscribe)))
    before = [_line(each.author or "Bosun", each.text) for each in recent if is_said(each)]
    asked = [f">> {_line(message.author, message.spoken)}" for message in batch[-MOST_IN_BATCH:]]
    return (*messages, PromptMessage("user", "\n".join((*before[-MOST_RECENT:], *asked))))


def is_said(message: HistoryMessage) -> bool:
    """Tell whether people have read a message of the model's stream: no result of a tool, and no silence."""
    return message.role in ("user", "assistant") and message.text.strip() not in ("", NO_REPLY)


def _line(author: str, text: str) -> str:
    return f"{one_line(author)}: {one_line(text, LONGEST_LINE)}"


def _answered(reply: bool, unsubscribe: bool) -> str:
    words = {True: "true", False: "false"}
    return f'{{"should_reply": {words[reply]}, "should_unsubscribe": {words[unsubscribe]}, "confidence": 0.9}}'
