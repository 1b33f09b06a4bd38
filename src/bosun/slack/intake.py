"""The way in from Slack, behind the route: which messages are for Bosun, whose they are, and what is said in them.

A mention, a direct message: Bosun is called, and listens to the thread from then on. What else is said in a thread
that it listens to is taken in too, as not said to it.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final, Literal

from bosun.clock import Clock
from bosun.identity import Actor
from bosun.ids import IdSource
from bosun.link_codes import code_in
from bosun.log.messages import ConversationRecord, InboundMessage, interrupts
from bosun.log.reading import ConversationReader
from bosun.mailbox.intake import Intake
from bosun.slack.channel import SlackThread
from bosun.slack.events import AssistantThreadStarted, MessageArrived, MessageChanged, MessageDeleted
from bosun.slack.linking import Linking
from bosun.slack.people import SlackPeople
from bosun.slack.reading import SlackFile, mentions, readable

SOURCE: Final = "slack"
Arrived = Literal["accepted", "duplicate", "not_for_bosun"]
_STOP: Final = re.compile(r"[*_~\s]*(?:@?bosun[\s,:]*)?stop[*_~.!\s]*(?:@bosun[.!\s]*)?", re.IGNORECASE)


def is_stop(text: str) -> bool:
    """Tell whether a text as a model reads it is the word alone, which ends what Bosun does."""
    return _STOP.fullmatch(text) is not None


class SlackIntake:
    """Takes in what people did on Slack. It has been made durable when a call returns."""

    def __init__(
        self,
        *,
        intake: Intake,
        people: SlackPeople,
        reader: ConversationReader,
        clock: Clock,
        ids: IdSource,
        linking: Linking | None = None,
    ) -> None:
        self._intake = intake
        self._people = people
        self._reader = reader
        self._clock = clock
        self._ids = ids
        self._linking = linking

    async def arrived(self, event: MessageArrived, team_id: str) -> Arrived:
        """Take in a message that calls Bosun, or that is said where it listens. Of any other, nothing is kept.

        `link CODE` is done at once: it is kept nowhere, and no model reads it.
        """
        conversation_id = event.thread.conversation_id
        called = event.direct or event.mentions_bot
        done = await self._link(event, team_id, called=called)
        if done is not None:
            return done
        if not called and not await self._intake.listens(conversation_id):
            return "not_for_bosun"
        bot = event.bot_user_id
        actor, text = await asyncio.gather(
            self._people.actor(team_id, event.user_id), self._text(team_id, event.text, event.files, bot)
        )
        if not text:
            return "not_for_bosun"
        message = self._message(event, actor, text, addressed=called)
        if is_stop(text) and await self._reader.conversation(conversation_id) is not None:
            return "accepted" if await self._intake.stop(conversation_id, message) else "duplicate"
        record = ConversationRecord(id=conversation_id, account_id=actor.account_id, actor_id=actor.id, location=SOURCE)
        receipt = await self._intake.take_in(record, message, subscribe=called)
        return "accepted" if receipt.new else "duplicate"

    async def changed(self, event: MessageChanged, team_id: str) -> None:
        """Give a message that was taken in its new text. No turn is made for it."""
        if await self._reader.conversation(event.thread.conversation_id) is None:
            return
        text = await self._text(team_id, event.text, event.files, event.bot_user_id)
        await self._revise(event.thread, event.ts, revision_of(event.edited_ts), text)

    async def deleted(self, event: MessageDeleted, team_id: str) -> None:
        """Take a message back that was taken in."""
        await self._revise(event.thread, event.ts, 0, None)

    async def assistant_started(self, event: AssistantThreadStarted, team_id: str) -> None:
        """Do nothing: Bosun says nothing before it is spoken to, and what is written there is said to it."""

    async def _link(self, event: MessageArrived, team_id: str, *, called: bool) -> Arrived | None:
        """Link whoever sends a code as a direct message; a code that others could read is worth nothing any more."""
        code = code_in(readable(event.text, {}, bot_user_id=event.bot_user_id))
        if self._linking is None or code is None:
            return None
        message_id = self._message_id(event.thread.conversation_id, event.ts)
        if not event.direct:
            return await self._linking.overheard(event.thread, code, message_id, called=called)
        await self._people.actor(team_id, event.user_id)
        await self._linking.link(event.thread, team_id, event.user_id, code, message_id)
        return "accepted"

    async def _revise(self, thread: SlackThread, ts: str, revision: int, text: str | None) -> None:
        conversation_id = thread.conversation_id
        await self._intake.revise(conversation_id, self._message_id(conversation_id, ts), revision, text)

    async def _text(self, team_id: str, text: str, files: tuple[SlackFile, ...], bot: str | None) -> str:
        others = [user_id for user_id in mentions(text) if user_id != bot]
        return readable(text, await self._people.names(team_id, others), files=files, bot_user_id=bot)

    def _message(self, event: MessageArrived, actor: Actor, text: str, *, addressed: bool) -> InboundMessage:
        urgent = interrupts(text)
        return InboundMessage(
            id=self._message_id(event.thread.conversation_id, event.ts),
            actor_id=actor.id,
            author=actor.display_name,
            source=SOURCE,
            text=text,
            received_at=self._clock.now(),
            interrupt=urgent,
            place=event.ts,
            addressed=addressed or urgent,  # the mark is for Bosun
        )

    def _message_id(self, conversation_id: str, ts: str) -> str:
        return self._ids.derive(conversation_id, "message", ts)


def revision_of(ts: str) -> int:
    """Return a change's `ts` as a number: it grows from change to change."""
    seconds, _, count = ts.partition(".")
    return int(seconds) * 1_000_000 + int(count.ljust(6, "0"))
