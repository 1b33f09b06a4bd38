"""What travels between a route, the mailbox, a turn and the log: data, and nothing that acts on it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict


class InboundMessage(BaseModel):
    """A person's message, as a route took it in.

    Its id derives from the conversation and the sender's idempotency key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    actor_id: str
    author: str
    """The author's display name, as people see it."""
    source: str = "web"
    text: str
    received_at: AwareDatetime


class ConversationRecord(BaseModel):
    """A conversation's identity: whose account and words it is about, and where it is visible."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    account_id: str
    actor_id: str
    """Who began it. On the web, nobody else sees it."""
    location: str = "web"


class ConversationSummary(ConversationRecord):
    """A conversation as it stands in a list."""

    title: str | None
    created_at: datetime


class Turn(BaseModel):
    """A started turn: the handle with which its rows are written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    conversation_id: str
    ordinal: int
    actor_id: str
    source: str
    message_ids: tuple[str, ...]


class HistoryMessage(BaseModel):
    """One message of the model's stream, oldest first: a person's (with its author), or the model's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant"]
    text: str
    author: str | None = None
