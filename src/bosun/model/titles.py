"""Titles: a short model title for a conversation, from its first message."""

from __future__ import annotations

from typing import Final

from bosun.context.assembler import title_prompt
from bosun.log.store import ConversationLog
from bosun.model.client import Model, ModelRequest

LONGEST_TITLE: Final = 80
TITLE_TOKENS: Final = 24
_WRAPPING: Final = " \t\"'`*#“”‘’«»"


class EmptyTitle(Exception):
    """The model wrote nothing that could be a title."""


async def write_title(model: Model, log: ConversationLog, conversation_id: str, first_message: str) -> str:
    """Ask for a title and store it. Return what was asked for: the conversation may have another one by then.

    Raises `ModelFailure` and `EmptyTitle`; the conversation then stays without one.
    """
    answer = await model.complete(
        ModelRequest(
            role="title",
            conversation_id=conversation_id,
            messages=title_prompt(first_message),
            max_tokens=TITLE_TOKENS,
        )
    )
    title = tidy_title(answer.text)
    if not title:
        raise EmptyTitle(f"the model's title is empty: {answer.text!r}")
    await log.set_title(conversation_id, title, {"title": answer.usage})
    return title


def tidy_title(text: str) -> str:
    """Make one line of at most 80 characters of what the model wrote, without quotes and marks; it may be empty."""
    first_line = next((line for line in text.splitlines() if line.strip(_WRAPPING)), "")
    words = " ".join(first_line.split()).strip(_WRAPPING)
    for label in ("Title:", "title:"):
        words = words.removeprefix(label).strip(_WRAPPING)
    words = words.rstrip(".: ").strip(_WRAPPING)
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1].rstrip() + "…"
