"""The worker: receive a nudge, lease the conversation, make a turn of its next batch, consume what is handled.

A crash loses nothing, at any point. Before the turn's commit, the messages are still pending and the expired lease
is taken over; after it, the log says that they are handled, and they are only consumed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Literal, Protocol

from bosun.limits import Limits
from bosun.log.messages import InboundMessage
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog, TurnTakenOver
from bosun.mailbox.hearing import Hearing
from bosun.mailbox.mailbox import CHECK_IN_SECONDS, LEASE_SECONDS, Mailbox
from bosun.mailbox.queue import ConversationQueue, Delivery, Nudge, NudgeReason
from bosun.mailbox.running import RunningTurn, StopBell
from bosun.mailbox.state import Busy, Empty, Lease, StopTaken, Taken
from bosun.mailbox.steering import CrossActor, LeaseLost, Paused, Steering, TurnRun
from bosun.mailbox.titling import TitleHandover
from bosun.steps import Step, StepSink
from bosun.stores.faults import STORE_AWAY
from bosun.timer import DeadlinePassed, Overtaken, Timer, ahead_of, end, heed_cancellation, within

BUSY_SECONDS: Final = 15.0
"""When a busy conversation is looked at again."""
REPAIR_SECONDS: Final = 15.0
"""When a failed attempt is repeated."""
BACKOFF_SECONDS: Final = 5.0
"""How long a loop waits when a store is away."""

TOO_MANY_AUTOMATED: Final = "Nobody has written here for a while. I will stay out of this until somebody does."
"""What people read when a conversation has had as many automated turns in a row as it may."""

_NEXT: Final[dict[str, NudgeReason]] = {"done": "message", "failed": "repair", "paused": "resume"}
"""Why a conversation that still has work is looked at again."""


class Turns(Protocol):
    """Makes turns of batches. `turn.engine` does."""

    async def run(self, conversation_id: str, batch: Sequence[InboundMessage], steering: Steering) -> TurnRun:
        """Answer the batch and commit the end of the turn, or that it pauses.

        A failure that people see is an end too. Raises `LeaseLost` and `TurnTakenOver`.
        """
        ...

    async def give_up(self, conversation_id: str, batch: Sequence[InboundMessage]) -> Sequence[str]:
        """Commit that the batch could not be answered. Return the messages of which that is said."""
        ...

    async def stop(self, conversation_id: str, messages: Sequence[InboundMessage]) -> None:
        """Commit that a person has stopped the open turn, and that what it has not taken in is discarded."""
        ...


class Worker:
    """The loops of one process, and their shutdown."""

    def __init__(
        self,
        *,
        queue: ConversationQueue,
        mailbox: Mailbox,
        log: ConversationLog,
        reader: ConversationReader,
        titles: TitleHandover,
        hearing: Hearing,
        turns: Turns,
        timer: Timer,
        steps: StepSink,
        limits: Limits,
        bell: StopBell,
        cross_actor: CrossActor = "follow_up",
    ) -> None:
        self._queue = queue
        self._mailbox = mailbox
        self._log = log
        self._reader = reader
        self._titles = titles
        self._hearing = hearing
        self._turns = turns
        self._timer = timer
        self._steps = steps
        self._limits = limits
        self._bell = bell
        self._cross_actor: CrossActor = cross_actor
        self._loops: list[asyncio.Task[None]] = []
        self._working: set[asyncio.Task[None]] = set()
        self._to_mend = True
        self._stopping = False
        self._logger = logging.getLogger("bosun.worker")

    async def start(self, group: asyncio.TaskGroup) -> None:
        """Nudge all unfinished work, then start the loops in the caller's group; `stop` ends them."""
        await self._mend()
        self._loops = [group.create_task(self._loop()) for _ in range(self._limits.workers)]

    async def stop(self) -> None:
        """End the loops.

        Work in hand has `limits.drain_seconds`; what is not done then is cancelled and stays pending.
        """
        self._stopping = True
        for task in self._loops:
            if task not in self._working:
                task.cancel()
        try:
            await within(self._timer, self._limits.drain_seconds, _all_ended(self._loops))
        except DeadlinePassed:
            self._logger.warning("%d turns were cancelled by the shutdown", len(self._working))
        await end(*self._loops)

    async def _loop(self) -> None:
        while not self._stopping:
            try:
                await self._mend()
                await self._work(await self._queue.receive())
            except STORE_AWAY as error:
                self._to_mend = True
                self._logger.warning("a store is away: %s", type(error).__name__)
                await self._back_off()
            except Exception:
                self._logger.exception("a nudge could not be worked on")
                await self._back_off()

    async def _work(self, delivery: Delivery) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._working.add(task)
        try:
            await self._handle(delivery)
        finally:
            self._working.discard(task)

    async def _back_off(self) -> None:
        if not self._stopping:
            await self._timer.sleep(BACKOFF_SECONDS)

    async def _mend(self) -> None:
        """Nudge whatever has work, and submit titles: after a start, and after a store was away, they may be lost."""
        if self._to_mend:
            self._to_mend = False
            for conversation_id in await self._mailbox.with_work():
                paused = (await self._mailbox.state(conversation_id)).status == "paused"
                await self._queue.send(Nudge(conversation_id, "resume" if paused else "repair"))
            await self._titles.mend()

    async def _handle(self, delivery: Delivery) -> None:
        conversation_id = delivery.nudge.conversation_id
        taken = await self._mailbox.take(conversation_id, delivery.nudge.reason)
        if isinstance(taken, Busy):
            await self._queue.send(Nudge(conversation_id, "busy"), delay=BUSY_SECONDS)
        elif not isinstance(taken, Empty):
            await self._attempt(taken)
        await self._queue.done(delivery)

    async def _attempt(self, taken: Taken | StopTaken) -> None:
        """Work on leased work and give the lease back, whatever happens."""
        lease = taken.lease
        outcome: Literal["done", "failed", "paused"] = "failed"
        try:
            outcome = await ahead_of(self._keep(lease), self._process(taken))
        except (Overtaken, LeaseLost, TurnTakenOver):
            self._logger.warning("the lease of %s was lost; its new holder goes on", lease.conversation_id)
            return
        except STORE_AWAY:
            await self._mailbox.release(lease)
            await self._queue.send(Nudge(lease.conversation_id, "repair"), delay=REPAIR_SECONDS)
            raise
        except asyncio.CancelledError:
            await self._mailbox.release(lease)
            raise
        except Exception:
            self._logger.exception("an attempt at %s failed", lease.conversation_id)
        if await self._mailbox.release(lease, outcome):
            reason: NudgeReason = _NEXT[outcome]
            await self._queue.send(
                Nudge(lease.conversation_id, reason), delay=REPAIR_SECONDS if outcome == "failed" else 0.0
            )

    async def _process(self, taken: Taken | StopTaken) -> Literal["done", "paused"]:
        lease = taken.lease
        conversation_id = lease.conversation_id
        work = taken.messages if isinstance(taken, StopTaken) else taken.batch
        handled = await self._reader.handled(conversation_id, [message.id for message in work])
        if handled:  # a crash came between a turn's commit and the consumption of its messages
            await self._mailbox.consume(lease, sorted(handled))
        batch = [message for message in work if message.id not in handled]
        if not batch:
            return "done"
        message_ids = [message.id for message in batch]
        if isinstance(taken, StopTaken):
            await (self._mailbox.bury(lease, message_ids) if taken.exhausted else self._stop(lease, batch))
            return "done"
        kept = await self._hearing.sift(conversation_id, batch, exhausted=taken.exhausted)
        if len(kept) < len(batch):
            await self._mailbox.consume(lease, [each for each in message_ids if each not in {m.id for m in kept}])
            batch, message_ids = [*kept], [message.id for message in kept]
        if not batch:
            return "done"
        self._steps.emit(Step("message.taken", conversation_id, {"messageIds": list(message_ids)}))
        for message in batch:
            await self._log.accept_message(conversation_id, message)
        if taken.exhausted:
            given_up = await self._turns.give_up(conversation_id, batch)
            await self._mailbox.bury(lease, [*message_ids, *(each for each in given_up if each not in message_ids)])
            return "done"
        if not await self._is_silenced(lease, batch):
            await self._titles.offer(conversation_id, batch)
            steering = RunningTurn(
                lease,
                mailbox=self._mailbox,
                bell=self._bell,
                timer=self._timer,
                steps=self._steps,
                cross_actor=self._cross_actor,
            )
            run = await self._turns.run(conversation_id, batch, steering)
            if isinstance(run, Paused):
                return "paused"
            message_ids = [*run.message_ids]
        await self._mailbox.consume(lease, message_ids)
        return "done"

    async def _stop(self, lease: Lease, discarded: Sequence[InboundMessage]) -> None:
        """Carry out a stop that found no running turn, or whose worker did not live to do it."""
        await self._turns.stop(lease.conversation_id, discarded)
        await self._mailbox.consume(lease, [message.id for message in discarded])

    async def _is_silenced(self, lease: Lease, batch: Sequence[InboundMessage]) -> bool:
        """Discard what no person wrote when there was too much of it in a row, with one notice."""
        if not all(message.automated for message in batch):
            return False
        over = await self._mailbox.count_automated(lease.conversation_id, batch[0].id) - self._limits.automated_turns
        if over <= 0:
            return False
        await self._log.discard(lease.conversation_id, batch, TOO_MANY_AUTOMATED if over == 1 else None)
        return True

    async def _keep(self, lease: Lease) -> None:
        """Check in until the lease is lost: taken over, or not prolonged for so long that it must have expired."""
        prolonged = self._timer.monotonic()
        while self._timer.monotonic() - prolonged < LEASE_SECONDS:
            heed_cancellation()
            await self._timer.sleep(CHECK_IN_SECONDS)
            try:
                if not await self._mailbox.check_in(lease):
                    return
                prolonged = self._timer.monotonic()
            except STORE_AWAY as error:
                self._logger.warning("could not check in for %s: %s", lease.conversation_id, type(error).__name__)


async def _all_ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)
