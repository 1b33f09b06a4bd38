"""A running turn's view of its mailbox, for as long as its worker holds the lease."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from bosun.log.messages import InboundMessage, Turn
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.state import Lease
from bosun.mailbox.steering import CrossActor, SteeringRead
from bosun.steps import Step, StepSink
from bosun.stores.faults import STORE_AWAY
from bosun.timer import Timer, end, heed_cancellation

LOOK_SECONDS: Final = 2.0
"""How often a running turn looks whether another process was asked to stop it."""


class StopBell:
    """Rings for the turns of this process: a stop that comes through the same app is noticed at once."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[asyncio.Event]] = {}

    def ring(self, conversation_id: str) -> None:
        """Tell whoever works on the conversation to look at its mailbox."""
        for listener in self._listeners.get(conversation_id, ()):
            listener.set()

    @contextmanager
    def heard(self, conversation_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever the bell rings for the conversation."""
        listener = asyncio.Event()
        listeners = self._listeners.setdefault(conversation_id, set())
        listeners.add(listener)
        try:
            yield listener
        finally:
            listeners.discard(listener)
            if not listeners and self._listeners.get(conversation_id) is listeners:
                del self._listeners[conversation_id]


class RunningTurn:
    """Reads one leased conversation's mailbox for its turn."""

    def __init__(
        self,
        lease: Lease,
        *,
        mailbox: Mailbox,
        bell: StopBell,
        timer: Timer,
        steps: StepSink,
        cross_actor: CrossActor,
    ) -> None:
        self._lease = lease
        self._mailbox = mailbox
        self._bell = bell
        self._timer = timer
        self._steps = steps
        self._cross_actor = cross_actor

    async def read(self, turn: Turn) -> SteeringRead:
        """Return what there is for the turn now.

        A message joins when its actor is the turn's and it came after the turn was begun, or when it interrupts.
        """
        stopped, pending = await self._mailbox.read(self._lease)
        joining = tuple(
            message
            for new, message in pending
            if message.id not in turn.message_ids and self._joins(turn, message, new)
        )
        return SteeringRead(joining, stopped)

    async def joined(self, messages: Sequence[InboundMessage]) -> None:
        """Forget messages whose rows the turn has committed."""
        message_ids = [message.id for message in messages]
        await self._mailbox.consume(self._lease, message_ids, ended=False)
        self._steps.emit(Step("message.taken", self._lease.conversation_id, {"messageIds": [*message_ids]}))

    async def until_stopped(self) -> None:
        """Return when the mailbox says that the turn is to stop. Looks when the bell rings, and from time to time."""
        with self._bell.heard(self._lease.conversation_id) as rung:
            look = asyncio.ensure_future(self._timer.sleep(LOOK_SECONDS))
            try:
                while not await self._is_stopped():
                    heed_cancellation()
                    bell = asyncio.ensure_future(rung.wait())
                    try:
                        await asyncio.wait({look, bell}, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        await end(bell)
                    rung.clear()
                    if look.done():  # the next wait begins before the store is asked, whose time is no one's
                        look = asyncio.ensure_future(self._timer.sleep(LOOK_SECONDS))
            finally:
                await end(look)

    async def discarded(self) -> tuple[InboundMessage, ...]:
        """Return every message that the stop has taken out of the mailbox."""
        return await self._mailbox.stopped(self._lease.conversation_id)

    async def _is_stopped(self) -> bool:
        try:
            return bool(await self._mailbox.stopped(self._lease.conversation_id))
        except STORE_AWAY as error:
            logger = logging.getLogger("bosun.worker")
            logger.warning("could not look for a stop of %s: %s", self._lease.conversation_id, type(error).__name__)
            return False

    def _joins(self, turn: Turn, message: InboundMessage, new: bool) -> bool:
        return message.interrupt or (new and (message.actor_id == turn.actor_id or self._cross_actor == "steer"))
