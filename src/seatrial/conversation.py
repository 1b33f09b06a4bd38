"""What a call to the agent did, as people and the reporting API see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from seatrial.history import History, HistoryReply
from seatrial.inputs import Input
from seatrial.progress import OnProgress
from seatrial.slack import SlackCall
from seatrial.steps import StepSeen

ReplyKind = Literal["answer", "notice", "error"]
TurnStatus = Literal["started", "succeeded", "no_reply", "failed"]
CallStatus = Literal["started", "succeeded", "failed", "denied", "timed_out"]


@dataclass(frozen=True)
class Reply:
    """One thing that people saw from the agent. ``kind`` tells an answer from a notice or an error."""

    id: str
    text: str
    kind: ReplyKind
    turn_id: str | None


@dataclass(frozen=True)
class Said:
    """One thing that people saw, whoever said it. A reply of the agent has the same ``id`` here."""

    id: str
    author: str
    text: str


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, with what came of it. ``input`` are its arguments."""

    id: str
    name: str
    status: CallStatus
    input: Any
    output: Any


@dataclass(frozen=True)
class Compaction:
    """What the model reads was summarized, to make room. ``kind`` is the agent's word for how."""

    kind: str
    summary: str


@dataclass(frozen=True)
class Turn:
    """One turn, with what it showed and called, and where room was made for it."""

    id: str
    status: TurnStatus
    replies: tuple[Reply, ...]
    tool_calls: tuple[ToolCall, ...]
    compactions: tuple[Compaction, ...] = ()

    def after(self, earlier: Turn | None) -> Turn | None:
        """Return what came to this turn after `earlier`, None when nothing did.

        A call that has gone on since is new.
        """
        if earlier is None:
            return self
        if self == earlier:
            return None
        return replace(
            self,
            replies=tuple(reply for reply in self.replies if reply not in earlier.replies),
            tool_calls=tuple(call for call in self.tool_calls if call not in earlier.tool_calls),
            compactions=self.compactions[len(earlier.compactions) :],
        )


@dataclass(frozen=True)
class ConversationState:
    """A conversation as the reporting API tells it now, oldest first.

    ``transcript`` is everything that people saw.
    """

    conversation_id: str
    title: str | None
    replies: tuple[Reply, ...]
    turns: tuple[Turn, ...]
    transcript: tuple[Said, ...]

    def after(self, earlier: ConversationState | None) -> ConversationState:
        """Return only what came after `earlier`, which is a state of the same conversation.

        A turn that was open then is part of it, with what it did since.
        """
        if earlier is None:
            return self
        known_turns = {turn.id: turn for turn in earlier.turns}
        known_replies = {reply.id for reply in earlier.replies}
        known_words = {said.id for said in earlier.transcript}
        turns = (turn.after(known_turns.get(turn.id)) for turn in self.turns)
        return ConversationState(
            conversation_id=self.conversation_id,
            title=self.title,
            replies=tuple(reply for reply in self.replies if reply.id not in known_replies),
            turns=tuple(turn for turn in turns if turn is not None),
            transcript=tuple(said for said in self.transcript if said.id not in known_words),
        )


@dataclass(frozen=True)
class Decision:
    """What one of the agent's public decision functions answered, and the steps that it went."""

    kind: str
    answer: Mapping[str, Any]
    steps: tuple[StepSeen, ...]


class ConversationDriver(Protocol):
    """What a conversation needs to go on: the trial that it belongs to."""

    async def continue_conversation(
        self,
        conversation_id: str,
        inputs: Input | Sequence[Input],
        history: History,
        on_progress: OnProgress | None,
    ) -> Conversation:
        """Send to the conversation at its current state and return what came of it."""

    async def fork_conversation(self, conversation_id: str, reply: Reply | HistoryReply) -> Conversation:
        """Branch off the conversation after a reply of it."""


@dataclass(frozen=True)
class Conversation:
    """What one call did, and only this call.

    The agent is idle when a call returns it, so nothing is added later. `continue_` sends to the same
    conversation at its current state, also when it is called on an earlier value. ``number`` counts the
    conversations of the trial from 1.
    """

    conversation_id: str
    number: int
    replies: tuple[Reply, ...]
    tool_calls: tuple[ToolCall, ...]
    turns: tuple[Turn, ...]
    title: str | None
    steps: tuple[StepSeen, ...]
    transcript: tuple[Said, ...]
    slack: tuple[SlackCall, ...]
    """What the agent called on Slack, in any conversation."""
    _driver: ConversationDriver

    @property
    def reactions(self) -> tuple[str, ...]:
        """The emoji that the agent put under messages of this conversation's thread on Slack, in order."""
        return tuple(str(call.args["name"]) for call in self._done("reactions.add"))

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """What was summarized for these turns, in order."""
        return tuple(made for turn in self.turns for made in turn.compactions)

    @property
    def statuses(self) -> tuple[str, ...]:
        """What the agent wrote over this conversation's thread on Slack, in order; an empty text cleared it."""
        return tuple(str(call.args["status"]) for call in self._done("assistant.threads.setStatus"))

    def _done(self, method: str) -> tuple[SlackCall, ...]:
        return tuple(call for call in self.slack if call.here and call.error is None and call.method == method)

    async def continue_(
        self,
        inputs: Input | Sequence[Input],
        *,
        history: History = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Send the next input, after appending ``history`` as stored turns. ``on_progress`` is told what happens."""
        return await self._driver.continue_conversation(self.conversation_id, inputs, history, on_progress)

    async def fork(self, reply: Reply | HistoryReply) -> Conversation:
        """Branch off after a reply: one of ``replies``, or one that was loaded as history. It runs no turn.

        The fork is a conversation of its own, which has done nothing yet.
        """
        return await self._driver.fork_conversation(self.conversation_id, reply)
