"""What a call to the agent did, as people and the reporting API see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from seatrial.history import HistoryItem
from seatrial.inputs import Input
from seatrial.steps import StepSeen

ReplyKind = Literal["answer", "notice", "error"]
TurnStatus = Literal["started", "succeeded", "no_reply", "failed"]


@dataclass(frozen=True)
class Reply:
    """One thing that people saw from the agent. ``kind`` tells an answer from a notice or an error."""

    id: str
    text: str
    kind: ReplyKind
    turn_id: str | None


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, with what came of it."""

    id: str
    name: str
    status: str
    input: Any
    output: Any


@dataclass(frozen=True)
class Turn:
    """One turn, with what it showed and called."""

    id: str
    status: TurnStatus
    replies: tuple[Reply, ...]
    tool_calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class ConversationState:
    """A conversation as the reporting API tells it now, oldest first.

    ``transcript`` is everything that people saw, as (who, text).
    """

    conversation_id: str
    title: str | None
    replies: tuple[Reply, ...]
    turns: tuple[Turn, ...]
    transcript: tuple[tuple[str, str], ...]

    def after(self, earlier: ConversationState | None) -> ConversationState:
        """Return only what came after `earlier`, which is a state of the same conversation."""
        if earlier is None:
            return self
        known_turns = {turn.id for turn in earlier.turns}
        known_replies = {reply.id for reply in earlier.replies}
        return ConversationState(
            conversation_id=self.conversation_id,
            title=self.title,
            replies=tuple(reply for reply in self.replies if reply.id not in known_replies),
            turns=tuple(turn for turn in self.turns if turn.id not in known_turns),
            transcript=self.transcript[len(earlier.transcript) :],
        )


class ConversationDriver(Protocol):
    """What a conversation needs to go on: the trial that it belongs to."""

    async def continue_conversation(
        self, conversation_id: str, inputs: Input | Sequence[Input], history: Sequence[HistoryItem]
    ) -> Conversation:
        """Send to the conversation at its current state and return what came of it."""


@dataclass(frozen=True)
class Conversation:
    """What one call did, and only this call.

    The agent is idle when a call returns it, so nothing is added later. `continue_` sends to the same
    conversation at its current state, also when it is called on an earlier value.
    """

    conversation_id: str
    replies: tuple[Reply, ...]
    tool_calls: tuple[ToolCall, ...]
    turns: tuple[Turn, ...]
    title: str | None
    steps: tuple[StepSeen, ...]
    transcript: tuple[tuple[str, str], ...]
    _driver: ConversationDriver

    async def continue_(self, inputs: Input | Sequence[Input], *, history: Sequence[HistoryItem] = ()) -> Conversation:
        """Send the next input, after appending ``history`` as stored turns."""
        return await self._driver.continue_conversation(self.conversation_id, inputs, history)
