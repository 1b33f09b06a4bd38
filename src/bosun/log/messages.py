"""What travels between a route, the mailbox, a turn and the log: data, and nothing that acts on it."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

INTERRUPT_MARK: Final = "!!"


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
    interrupt: bool = False
    """It goes before what waits, and joins a running turn whoever began that."""
    automated: bool = False
    """No person wrote it: an automation or an event did."""
    place: str | None = None
    """What the message is called where it was written, for whoever has to point at it there. Slack: its `ts`."""
    addressed: bool = True
    """It is said to Bosun. Whether one that is not has a reply, the reply policy decides."""
    revision: int = 0
    """Grows with each change of the text: a change that comes late does not undo a newer one."""

    @property
    def spoken(self) -> str:
        """The text as the model reads it: without the mark of an interrupt, which is for Bosun."""
        return unmarked(self.text) if self.interrupt else self.text


def interrupts(text: str) -> bool:
    """Tell whether a text asks to be heard at once: it begins with the mark, and has words behind it."""
    return text.lstrip().startswith(INTERRUPT_MARK) and bool(unmarked(text))


def unmarked(text: str) -> str:
    """Return a text without the mark of an interrupt before it."""
    return text.lstrip().removeprefix(INTERRUPT_MARK).strip()


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
    author: str
    """The actor's display name."""
    source: str
    message_ids: tuple[str, ...]
    """What it has taken in so far, in order."""
    started_at: AwareDatetime


class ProposedCall(BaseModel):
    """A call of a tool as the model asked for it. The arguments are the JSON text that the model wrote."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    arguments: str


class ToolCall(ProposedCall):
    """A call as it is stored: its id derives from the turn and the call's place in it."""

    id: str


class HistoryMessage(BaseModel):
    """One message of the model's stream, oldest first.

    A person's (with its author), the model's own (with the calls that it asked for), or the result of the call of
    which it has the id. Every call is followed by its result. A summary may stand first, for what came before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant", "tool", "summary"]
    text: str
    author: str | None = None
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
