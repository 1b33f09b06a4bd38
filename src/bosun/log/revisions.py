"""What became of messages that people changed or took back: the text that counts, whatever order the rows have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias, TypeVar

from pydantic import BaseModel

from bosun.log.events import MessageUpdated, Opaque, Payload, UserMessage, VisibleMessage
from bosun.log.messages import interrupts, unmarked

DELETED: Final = "(deleted)"
"""What stands in the place of a message that was taken back."""

Revisions: TypeAlias = Mapping[str, MessageUpdated]
"""The change that counts, by the message's id."""

AnyPayload = TypeVar("AnyPayload", bound=BaseModel)


def revisions_of(payloads: Iterable[Payload | Opaque]) -> Revisions:
    """Return, for each message that was changed, what counts: a deletion, or else the highest revision."""
    found: dict[str, MessageUpdated] = {}
    for payload in payloads:
        if isinstance(payload, MessageUpdated):
            known = found.get(payload.message_id)
            if known is None or (known.deleted, known.revision) < (payload.deleted, payload.revision):
                found[payload.message_id] = payload
    return found


def revised(payload: AnyPayload, revisions: Revisions) -> AnyPayload:
    """Return a row as it is to be read now; one that is about no changed message is as it was."""
    if not isinstance(payload, VisibleMessage | UserMessage | MessageUpdated):
        return payload
    change = revisions.get(payload.message_id)
    if change is None:
        return payload
    if isinstance(payload, MessageUpdated) and not change.deleted:
        return payload
    text = DELETED if change.deleted else change.text
    if isinstance(payload, UserMessage) and interrupts(text):
        text = unmarked(text)
    return payload.model_copy(update={"text": text})
