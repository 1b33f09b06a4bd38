"""The types of the log's rows: one typed payload each.

An unknown type is opaque; a known one that is corrupt fails loudly.

Two streams share the log. What people see: `message`, `title`. What the model reads again: `user_message`,
`assistant_message`, `tool_result`. The rest is the life of turns and of tool calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from bosun.log.messages import ToolCall
from bosun.tools import Effect

EVENT_SCHEMA: Final = 1
"""Version of the payloads below; changes when a field's meaning changes."""

NO_REPLY: Final = "[[NO_REPLY]]"
"""What the model says, alone, when nothing should be said."""

VisibleKind = Literal["message", "answer", "notice", "error"]
TurnEnd = Literal["succeeded", "no_reply"]
CallEnd = Literal["succeeded", "failed", "denied", "timed_out"]
"""How a call ended. Timed out: it was begun, and whether it was done is not known."""
ReviewDecision = Literal["allow", "ask", "deny"]
Risk = Literal["low", "medium", "high"]
DecidedBy = Literal["rule", "model"]


class TokenUsage(BaseModel):
    """Tokens that one role's model calls took within a turn."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=False
    )

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
        )


class Payload(BaseModel):
    """What a row of one type holds. Stored under the fields' names; the aliases are the reporting API's."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=False,
    )
    type: ClassVar[str]


class VisibleMessage(Payload):
    """Something people see: a person's message, or Bosun's answer, notice or error sentence."""

    type: ClassVar[str] = "message"
    message_id: str
    role: Literal["user", "assistant"]
    kind: VisibleKind
    author_id: str
    author: str
    source: str
    text: str
    turn_id: str | None


class MessageHandled(Payload):
    """A turn has ended that took this message in, or it was discarded and no turn ever will (None).

    Whoever sees this row never answers the message again.
    """

    type: ClassVar[str] = "message_handled"
    message_id: str
    turn_id: str | None


class MessageUpdated(Payload):
    """A person has changed a message, or taken it back. The highest revision counts, and what is deleted stays so.

    It may stand before the message that it is about: that one may be on its way into the log.
    """

    type: ClassVar[str] = "message_updated"
    message_id: str
    revision: int
    text: str
    deleted: bool


class ReplyDecided(Payload):
    """It was decided whether Bosun answers messages that were not said to it, and whether it goes on listening."""

    type: ClassVar[str] = "reply_decided"
    message_ids: list[str]
    reply: bool
    unsubscribe: bool
    by: DecidedBy
    reason: str
    usage: dict[str, TokenUsage]


class UserMessage(Payload):
    """A person's message as the model reads it, and what it is called where it was written, if that is elsewhere.

    One without a turn was overheard: no turn answers it, and later ones know it.
    """

    type: ClassVar[str] = "user_message"
    message_id: str
    turn_id: str | None
    author_id: str
    author: str
    text: str
    place: str | None = None


class AssistantMessage(Payload):
    """The model's own words, sentinels included, and the calls of tools that it asked for beside them."""

    type: ClassVar[str] = "assistant_message"
    turn_id: str
    text: str
    tool_calls: list[ToolCall] = []


class GuardianActionReviewed(Payload):
    """It was decided whether a call may be made. Stored before the call is."""

    type: ClassVar[str] = "guardian_action_reviewed"
    turn_id: str
    call_id: str
    tool: str
    effect: Effect
    decision: ReviewDecision
    risk: Risk
    reason: str
    by: DecidedBy


class ToolExecutionStarted(Payload):
    """A call is about to be made, with this input. From here on it is never made again."""

    type: ClassVar[str] = "tool_execution_started"
    turn_id: str
    call_id: str
    name: str
    input: dict[str, JsonValue]


class ToolResult(Payload):
    """A call has ended; the output is what the model reads of it."""

    type: ClassVar[str] = "tool_result"
    turn_id: str
    call_id: str
    name: str
    status: CallEnd
    output: str


class TurnStarted(Payload):
    """A turn began for these messages. `ordinal` counts the conversation's turns from 1."""

    type: ClassVar[str] = "turn_started"
    turn_id: str
    ordinal: int
    actor_id: str
    source: str
    message_ids: list[str]


class TurnRouted(Payload):
    """It was decided how the turn is thought about, before it began to think. Only running turns have it."""

    type: ClassVar[str] = "turn_routed"
    turn_id: str
    profile: str
    reasoning: Literal["low", "medium", "high"]
    confidence: float
    reason: str
    by: DecidedBy


class TurnContext(Payload):
    """What a model request of the turn was built from: block names and the contracts' versions.

    Only running turns have it.
    """

    type: ClassVar[str] = "turn_context"
    turn_id: str
    request: int
    blocks: list[str]
    contracts: dict[str, int]


class _Replacement(Payload):
    """A summary stands for the model's stream up to a row, from here on. What people see is untouched.

    ``replaced`` counts the messages, the tokens are estimates of the request that it was made for.
    """

    turn_id: str
    upto: int
    summary: str
    replaced: int
    tokens_before: int
    tokens_after: int


class Compaction(_Replacement):
    """What came before the turn was summarized, as it no longer fitted the model's context window."""

    type: ClassVar[str] = "compaction"


class Handoff(_Replacement):
    """What the turn itself has done was summarized too: it goes on from this note and from what it was asked."""

    type: ClassVar[str] = "handoff"


class DeliveryStarted(Payload):
    """The turn's last words are about to be posted elsewhere: from here on the turn says these and no others.

    `parts` are what is posted, one message each; `text` is what the log will hold. `failure` is the kind of a turn
    that fails. Only running turns have it.
    """

    type: ClassVar[str] = "delivery_started"
    turn_id: str
    kind: Literal["answer", "notice", "error"]
    text: str
    parts: list[str]
    failure: str | None
    usage: dict[str, TokenUsage]


class TurnPaused(Payload):
    """The n-th slice of the turn ended before the turn was finished; the usage is this slice's, by role.

    Only running turns have it.
    """

    type: ClassVar[str] = "turn_paused"
    turn_id: str
    slice: int
    usage: dict[str, TokenUsage]


class TurnCompleted(Payload):
    """The turn ended well; its usage is by role."""

    type: ClassVar[str] = "turn_completed"
    turn_id: str
    status: TurnEnd
    usage: dict[str, TokenUsage]


class TurnFailed(Payload):
    """The turn failed, for one of the kinds of `model.errors` (or a fault of Bosun: `unknown`)."""

    type: ClassVar[str] = "turn_failed"
    turn_id: str
    kind: str
    usage: dict[str, TokenUsage]


class Title(Payload):
    """The conversation was given its title."""

    type: ClassVar[str] = "title"
    title: str
    usage: dict[str, TokenUsage]


class Opaque(BaseModel):
    """A row of a type that this Bosun does not know; kept as it is."""

    model_config = ConfigDict(frozen=True)
    type: str
    data: dict[str, Any]


KNOWN: Final[Mapping[str, type[Payload]]] = {
    payload.type: payload
    for payload in (
        VisibleMessage,
        MessageHandled,
        MessageUpdated,
        ReplyDecided,
        UserMessage,
        AssistantMessage,
        GuardianActionReviewed,
        ToolExecutionStarted,
        ToolResult,
        TurnStarted,
        TurnRouted,
        TurnContext,
        Compaction,
        Handoff,
        DeliveryStarted,
        TurnPaused,
        TurnCompleted,
        TurnFailed,
        Title,
    )
}


class CorruptEvent(Exception):
    """A row of a known type does not hold what that type holds."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row of the log."""

    conversation_id: str
    seq: int
    created_at: datetime
    payload: Payload | Opaque


def decode(conversation_id: str, seq: int, type_: str, schema_version: int, data: Any) -> Payload | Opaque:
    """Read a stored payload.

    Raises `CorruptEvent` when the type is known and the payload or its version is not.
    """
    known = KNOWN.get(type_)
    if known is None:
        return Opaque(type=type_, data=data if isinstance(data, dict) else {"value": data})
    place = f"event {seq} ({type_}) of conversation {conversation_id!r} is corrupt"
    if schema_version != EVENT_SCHEMA:
        raise CorruptEvent(f"{place}: its payload has version {schema_version}, this Bosun reads {EVENT_SCHEMA}")
    try:
        return known.model_validate(data)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'payload'}: {each['msg']}" for each in error.errors())
        raise CorruptEvent(f"{place}: {wrong}") from error
