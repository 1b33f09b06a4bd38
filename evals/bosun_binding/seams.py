"""The harness's seams in the shapes that Bosun's Protocols ask for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bosun.clock import Clock
from bosun.context.sources import AccountSnapshot
from bosun.ids import DerivedIds
from bosun.mailbox.queue import Delivery, Nudge
from bosun.steps import Step
from seatrial.binding import World
from seatrial.ids import TrialIds
from seatrial.work import WorkQueue


class HarnessIds(DerivedIds):
    """Bosun's derived ids, with the trial's repeatable values where production has randomness."""

    def __init__(self, ids: TrialIds) -> None:
        self._ids = ids

    def nonce(self, parent: str, kind: str) -> str:
        """Return the trial's next value for this parent and kind."""
        return self._ids.nonce(parent, kind)


class HarnessQueue:
    """Bosun's conversation queue over the trial's, which hands out one nudge at a time."""

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Keep a nudge until it is due."""
        self._queue.send(nudge.conversation_id, nudge.reason, delay)

    async def receive(self) -> Delivery:
        """Wait until the trial hands out a nudge."""
        parcel = await self._queue.take()
        return Delivery(Nudge(parcel.subject, parcel.reason), str(parcel.number))

    async def done(self, delivery: Delivery) -> None:
        """Tell the trial that the nudge was handled."""
        self._queue.finish(int(delivery.token))


class HarnessSteps:
    """Bosun's step hook, into the trial's log."""

    def __init__(self, world: World) -> None:
        self._world = world

    def emit(self, step: Step) -> None:
        """Keep one step."""
        self._world.on_step(step.name, step.conversation_id, step.fields)


class FixtureSnapshotSource:
    """The account of a snapshot fixture, whoever asks. Its age counts from the trial's clock."""

    def __init__(self, data: Mapping[str, Any], clock: Clock) -> None:
        self._data = data
        self._clock = clock

    async def load(self, account_id: str) -> AccountSnapshot:
        """Return the fixture's account."""
        return AccountSnapshot(
            display_name=self._data["display_name"],
            plan=self._data["plan"],
            projects=tuple(self._data["projects"]),
            updated_at=self._clock.now() - timedelta(minutes=self._data["updated_ago_minutes"]),
        )
