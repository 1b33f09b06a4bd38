"""The words that ask for a summary of what no longer fits a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from bosun.context.escape import one_line
from bosun.context.policy import HANDOFF_POLICY, SUMMARY_POLICY
from bosun.context.prompt import PromptMessage
from bosun.log.messages import HistoryMessage

LONGEST_SPOKEN: Final = 1500
"""How many characters of one message are told."""
MOST_LINES: Final = 12
LONGEST_LINE: Final = 300


_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) +")


def transcript(messages: Iterable[HistoryMessage]) -> tuple[str, ...]:
    """Return what is to be summarized, a line a message."""
    return tuple(_line(message) for message in messages)


def summary_prompt(lines: Sequence[str], *, handoff: bool) -> tuple[PromptMessage, ...]:
    """Return the words of one summary."""
    policy = HANDOFF_POLICY if handoff else SUMMARY_POLICY
    return (PromptMessage("system", policy), PromptMessage("user", "\n".join(lines)))


def tidy_summary(text: str) -> str:
    """Return a summary as it is kept: a line a sentence, at most so many, each of at most so many characters."""
    sentences = [sentence for line in text.splitlines() for sentence in _SENTENCE_END.split(line)]
    lines = [" ".join(sentence.split()).lstrip("-*• ").removeprefix("Before: ") for sentence in sentences]
    return "\n".join(line[:LONGEST_LINE] for line in [line for line in lines if line][:MOST_LINES])


def _line(message: HistoryMessage) -> str:
    if message.role == "summary":
        return f"Before: {one_line(message.text, LONGEST_SPOKEN)}"
    if message.role == "tool":
        return f"Result: {one_line(message.text, LONGEST_SPOKEN)}"
    author = message.author or "Bosun"
    called = "".join(f" [calls {call.name} {call.arguments}]" for call in message.calls)
    return f"{one_line(author)}: {one_line(message.text + called, LONGEST_SPOKEN)}"
