"""Delivery by posts in another service, in two phases: what is going to be said is committed, then it is posted, and
then the turn's end is committed.

Whatever happens between, a later attempt says the same words: it asks the service which of them are there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from bosun.log.events import DeliveryStarted
from bosun.log.messages import InboundMessage, Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog, Usage
from bosun.model.errors import SENTENCES, FailureKind
from bosun.steps import Step, StepSink
from bosun.turn.lifecycle import Answered, Outcome, Silent

DeliveryKind: TypeAlias = Literal["answer", "notice", "error"]


class Undelivered(Protocol):
    """Why words could not be posted."""

    @property
    def kind(self) -> FailureKind:
        """The kind of the turn's failure."""
        ...

    @property
    def sentence(self) -> str:
        """What people read about it on the web."""
        ...


class Posts(Protocol):
    """Posts words where the conversation is."""

    def parts(self, text: str) -> Sequence[str]:
        """Return the text as the messages that it is posted as."""
        ...

    async def post(self, conversation_id: str, key: str, parts: Sequence[str], *, again: bool) -> Undelivered | None:
        """Post those of the parts that are not there. Return why not all of them are, or None.

        Each is marked with the key and its number. `again` says that some of them may be there.
        """
        ...


class Presence(Protocol):
    """Shows that Bosun works on something. A failure of it is logged, and never anybody's problem."""

    async def working(self, conversation_id: str, busy: bool) -> None:
        """Show it, or show it no longer."""
        ...


class PostedDelivery:
    """Delivers by posts, and commits what came of it."""

    def __init__(
        self,
        log: ConversationLog,
        reader: ConversationReader,
        steps: StepSink,
        *,
        source: str,
        posts: Posts,
        presence: Presence,
        stopped: str,
    ) -> None:
        self._log = log
        self._reader = reader
        self._steps = steps
        self._source = source
        self._posts = posts
        self._presence = presence
        self._stopped = stopped
        self._logger = logging.getLogger("bosun.turn")

    async def begin(self, turn: Turn) -> None:
        """Show that the turn runs. The words of its end take that back."""
        await self._presence.working(turn.conversation_id, True)

    async def resume(self, turn: Turn) -> DeliveryStarted | None:
        """End the turn by the delivery that an earlier attempt began. Return None where none did."""
        started = await self._reader.delivery(turn)
        if started is not None:
            await self._deliver(turn, started, again=True)
        return started

    async def end(self, turn: Turn, outcome: Outcome, usage: Usage) -> None:
        """End the turn with this outcome, unless another attempt has ended it already."""
        if isinstance(outcome, Silent):
            if await self._log.commit_no_reply(turn, usage):
                self._emit("turn.completed", turn, status="no_reply")
            await self._presence.working(turn.conversation_id, False)
        elif isinstance(outcome, Answered):
            await self._begin(turn, self._started(turn, "answer", outcome.text, usage))
        else:
            await self._begin(turn, self._started(turn, "error", SENTENCES[outcome.kind], usage, outcome.kind))

    async def stop(
        self, conversation_id: str, turn: Turn | None, messages: Sequence[InboundMessage], usage: Usage
    ) -> None:
        """End the open turn, if there is one, with the notice of a stop, and discard what it has not taken in.

        The notice is said too where no turn is open, or one of the web's: it says more than that one ended.
        """
        if turn is not None and turn.source == self._source:
            started = self._started(turn, "notice", self._stopped, usage)
            if not await self._begin(turn, started, messages) and messages:
                await self._log.discard(conversation_id, messages, None)
            return
        told = await self._tell_of_stop(conversation_id, messages)
        if turn is not None:
            await self._log.commit_stop(conversation_id, messages, self._stopped, usage)
            self._emit("turn.completed", turn, status="no_reply")
        elif messages:
            await self._log.discard(conversation_id, messages, self._stopped if told else None)

    async def pause(self, turn: Turn, number: int, usage: Usage) -> None:
        """Say that the turn's n-th slice is over, and the turn is not."""
        if await self._log.pause_turn(turn, number, usage):
            self._emit("turn.paused", turn, slice=number)

    async def _tell_of_stop(self, conversation_id: str, messages: Sequence[InboundMessage]) -> bool:
        """Say it to whoever wrote here, once: no turn's key can mark it, so that of a message does."""
        said = [message for message in messages if message.source == self._source]
        if not said:
            return False
        parts = self._posts.parts(self._stopped)
        return await self._posts.post(conversation_id, f"stop:{said[0].id}", parts, again=True) is None

    def _started(
        self, turn: Turn, kind: DeliveryKind, text: str, usage: Usage, failure: FailureKind | None = None
    ) -> DeliveryStarted:
        return DeliveryStarted(
            turn_id=turn.id,
            kind=kind,
            text=text,
            parts=list(self._posts.parts(text)),
            failure=failure,
            usage=dict(usage),
        )

    async def _begin(self, turn: Turn, started: DeliveryStarted, discarded: Sequence[InboundMessage] = ()) -> bool:
        if not await self._log.start_delivery(started, turn):
            return False
        await self._deliver(turn, started, again=False, discarded=discarded)
        return True

    async def _deliver(
        self, turn: Turn, started: DeliveryStarted, *, again: bool, discarded: Sequence[InboundMessage] = ()
    ) -> None:
        """Post, and commit the end of the turn. What could not be posted is said on the web."""
        undelivered = await self._posts.post(turn.conversation_id, turn.id, started.parts, again=again)
        if undelivered is not None:
            self._logger.warning("turn %s: its %s could not be posted: %s", turn.id, started.kind, undelivered.kind)
            await self._presence.working(turn.conversation_id, False)
        if started.kind == "notice":
            await self._log.commit_stop(turn.conversation_id, discarded, started.text, started.usage)
            self._emit("turn.completed", turn, status="no_reply")
        elif started.failure is not None:
            await self._fail(turn, started.failure, started.text, started.usage)
        elif undelivered is not None:
            await self._fail(turn, undelivered.kind, undelivered.sentence, started.usage)
        else:
            self._emit("reply.delivered", turn)
            if await self._log.commit_reply(turn, started.text, started.usage):
                self._emit("turn.completed", turn, status="succeeded")

    async def _fail(self, turn: Turn, kind: str, sentence: str, usage: Usage) -> None:
        if await self._log.commit_failure(turn, kind, sentence, usage):
            self._emit("turn.failed", turn, kind=kind)

    def _emit(self, name: str, turn: Turn, **fields: str | int) -> None:
        self._steps.emit(Step(name, turn.conversation_id, dict(fields)))
