"""One test's world: the agent under test with everything around it, and what it did there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from seatrial.binding import Agent, Binding, Calendar, Composition, InputRefused, World
from seatrial.clock import TrialClock, VirtualTimer
from seatrial.conversation import Conversation
from seatrial.gateway.recording import Recording
from seatrial.gateway.seen import SeenRequest
from seatrial.gateway.server import Gateway
from seatrial.gateway.upstream import Upstream
from seatrial.history import HistoryItem, HistoryReply, exchanges
from seatrial.idle import IDLE_SECONDS, NotIdle, until_idle
from seatrial.ids import TrialIds
from seatrial.inputs import Input
from seatrial.serving import serve
from seatrial.steps import StepLog
from seatrial.stores.embedded import StoreUrls
from seatrial.verdict import Cause, Finding
from seatrial.work import BackgroundWork, WorkQueue


@dataclass(frozen=True)
class TrialSettings:
    """What a trial is made of. ``recording`` is None for a case that was never recorded."""

    binding: Binding
    composition: Composition
    stores: StoreUrls
    at: datetime
    calendar: Calendar
    snapshot: Mapping[str, Any] | None
    recording: Recording | None
    upstream: Upstream | None = None
    upstream_model: str = ""
    """The upstream's name of the agent's model, for recording. Empty: the upstream takes the agent's own."""


class TrialBroken(Exception):
    """The trial cannot say anything about the agent. The message says why."""


class TrialInvalid(Exception):
    """A test says something that the agent under test cannot have. The message says what to change."""


class Trial:
    """The fixture behind `run`: conversations with one agent, one call at a time."""

    def __init__(
        self,
        agent: Agent,
        gateway: Gateway,
        *,
        binding: Binding,
        composition: Composition,
        queue: WorkQueue,
        background: BackgroundWork,
        timer: VirtualTimer,
        clock: TrialClock,
        steps: StepLog,
        recording: bool,
    ) -> None:
        self._agent = agent
        self._gateway = gateway
        self._binding = binding
        self._composition = composition
        self._queue = queue
        self._background = background
        self._timer = timer
        self.clock = clock
        self._steps = steps
        self._recording = recording
        self._conversations = 0
        self._numbers: dict[str, int] = {}
        self._sent = 0
        self._inserted = 0
        self._busy = False
        self.calls: list[Conversation] = []
        """Every call that came back, in order."""

    async def run(self, inputs: Input | Sequence[Input], *, history: Sequence[HistoryItem] = ()) -> Conversation:
        """Start a new conversation, send the inputs as one batch, and return when the agent is idle."""
        return await self._call(None, inputs, history)

    async def load(self, history: Sequence[HistoryItem]) -> str:
        """Start a conversation that has only happened, at the time that it is now; return its id. It runs nothing."""
        self._refuse_while_busy()
        self._check(history)
        self._conversations += 1
        conversation_id = await self._store(history, None)
        self._numbers[conversation_id] = self._conversations
        return conversation_id

    async def continue_conversation(
        self, conversation_id: str, inputs: Input | Sequence[Input], history: Sequence[HistoryItem]
    ) -> Conversation:
        """Send to a conversation of this trial at its current state."""
        return await self._call(conversation_id, inputs, history)

    async def insert(self, kind: str, data: Mapping[str, Any]) -> None:
        """Store one piece of setup data, as the agent itself would. It runs nothing and no turn sees it as its own.

        Raises TrialInvalid for data that the agent so composed cannot have, and RuntimeError while a call runs.
        """
        self._refuse(self._binding.check_setup(kind, data, self._composition))
        self._refuse_while_busy()
        self._inserted += 1
        await self._agent.insert(kind, data, key=f"setup-{self._inserted}")

    async def _call(
        self, conversation_id: str | None, inputs: Input | Sequence[Input], history: Sequence[HistoryItem]
    ) -> Conversation:
        batch = list(inputs) if isinstance(inputs, Sequence) else [inputs]
        if not batch:
            raise ValueError("a call sends at least one input")
        self._refuse_while_busy()
        self._check(history)
        self._busy = True
        try:
            return await self._send_and_wait(conversation_id, batch, history)
        finally:
            self._busy = False

    async def _send_and_wait(
        self, conversation_id: str | None, batch: list[Input], history: Sequence[HistoryItem]
    ) -> Conversation:
        if conversation_id is None:
            self._conversations += 1
            number = self._conversations
        else:
            number = self._numbers[conversation_id]
        if history:
            conversation_id = await self._store(history, conversation_id)
        before = None if conversation_id is None else await self._agent.read(conversation_id)
        mark = self._steps.mark()
        for item in batch:
            try:
                sent = await self._agent.send(item, conversation_id=conversation_id, key=self._key())
            except InputRefused as error:
                raise TrialBroken(f"an input was refused: {error}") from error
            conversation_id = sent.conversation_id
        assert conversation_id is not None
        self._numbers[conversation_id] = number
        self._gateway.register_conversation(conversation_id)
        try:
            await until_idle(
                self._queue,
                self._background,
                self._timer,
                agent_pending=self._agent.pending,
                agent_errors=self._failures,
                waits_for_upstream=lambda: self._recording and self._gateway.in_flight > 0,
            )
        except NotIdle as error:
            raise TrialBroken(str(error)) from error
        await self._settle()
        state = (await self._agent.read(conversation_id)).after(before)
        conversation = Conversation(
            conversation_id=conversation_id,
            number=number,
            replies=state.replies,
            tool_calls=tuple(call for turn in state.turns for call in turn.tool_calls),
            turns=state.turns,
            title=state.title,
            steps=tuple(step for step in self._steps.since(mark) if step.conversation_id == conversation_id),
            transcript=state.transcript,
            _driver=self,
        )
        self.calls.append(conversation)
        failed = self._failures()
        if failed and not self.missed:  # what failed after a miss failed because of it
            raise TrialBroken(failed[0])
        return conversation

    def _failures(self) -> tuple[str, ...]:
        """Name what has failed without reaching a person: model traffic, background work, the agent's own errors."""
        return (*self._gateway.problems, *self._background.failures(), *self._agent.errors())

    def _refuse_while_busy(self) -> None:
        if self._busy:
            raise RuntimeError("calls on one agent do not overlap: await the call before, then send the next")

    def _check(self, history: Sequence[HistoryItem]) -> None:
        for item in history:
            for tool in item.tools if isinstance(item, HistoryReply) else ():
                self._refuse(self._binding.check_tool_call(tool.name, tool.input, self._composition))

    async def _store(self, history: Sequence[HistoryItem], conversation_id: str | None) -> str:
        turns = exchanges(tuple(history))
        return await self._agent.load_history(turns, conversation_id=conversation_id, key=self._key())

    def _refuse(self, mistakes: Sequence[str]) -> None:
        if mistakes:
            raise TrialInvalid("; ".join(mistakes))

    async def _settle(self) -> None:
        """Wait until the gateway has closed its books on every request of the call."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await self._gateway.settle()
        except TimeoutError as error:
            raise TrialBroken("the agent is idle, and a model request of it is still open") from error

    def _key(self) -> str:
        """Return the idempotency key of the next input. It tells conversations of a trial apart and
        repeats in every run."""
        self._sent += 1
        return f"trial-{self._conversations}-{self._sent}"

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """The agent's requests to the model so far, in the order in which they were answered."""
        return self._gateway.requests

    @property
    def missed(self) -> bool:
        """Whether the agent has asked something that has no recorded answer. Nothing after it means anything."""
        return self._gateway.miss is not None

    def recording_made(self, *, recorded_at: str, contracts: Mapping[str, int]) -> Recording:
        """Return the recording of this trial. Raises RecordRefused when there is nothing to record."""
        return self._gateway.recording_made(recorded_at=recorded_at, trial=0, contracts=contracts)

    def findings(self) -> tuple[Finding, ...]:
        """Return what keeps this trial from being known or from passing, beside its expectations."""
        found: list[Finding] = []
        if self._gateway.miss is not None:
            miss = self._gateway.miss
            reason = f"role {miss.role} asked in conversation {miss.conversation} what has no recorded answer"
            found.append(Finding(Cause.UNRECORDED, reason, detail=miss.explain()))
        broken = list(self._failures())
        broken += [f"the agent reported the unknown step '{name}'" for name in self._steps.unknown]
        if self._gateway.served == 0 and self._gateway.miss is None:
            broken.append("the agent asked the model nothing: whatever it said, no recorded answer is behind it")
        found.extend(Finding(Cause.BROKEN, reason) for reason in broken)
        # A run that records replaces what the agent no longer asks.
        unused = () if self._recording else self._gateway.unused()
        if unused:
            first = unused[0]
            found.append(
                Finding(
                    Cause.RECORDING_UNUSED,
                    f"{len(unused)} recorded answer(s) were not used; the first belongs to role {first.role}, "
                    f"conversation {first.conversation}",
                )
            )
        return tuple(found)


@asynccontextmanager
async def open_trial(settings: TrialSettings) -> AsyncIterator[Trial]:
    """Serve the gateway and the agent on loopback, and stop both at the end."""
    timer = VirtualTimer()
    clock = TrialClock(settings.at, timer)
    steps = StepLog()
    queue = WorkQueue(timer)
    background = BackgroundWork()
    gateway = Gateway(
        header_names=settings.binding.header_names,
        recording=settings.recording,
        upstream=settings.upstream,
        model_names=dict.fromkeys(settings.binding.model_aliases, name) if (name := settings.upstream_model) else {},
    )
    async with serve(gateway.app, lifespan=False) as model:
        world = World(
            postgres_url=settings.stores.postgres,
            redis_url=settings.stores.redis,
            model_url=f"{model}/v1",
            clock=clock,
            timer=timer,
            calendar=settings.calendar,
            ids=TrialIds("seatrial"),
            queue=queue,
            background=background,
            on_step=steps.add,
            composition=settings.composition,
            snapshot=settings.snapshot,
        )
        async with settings.binding.running(world) as agent:
            try:
                yield Trial(
                    agent,
                    gateway,
                    binding=settings.binding,
                    composition=settings.composition,
                    queue=queue,
                    background=background,
                    timer=timer,
                    clock=clock,
                    steps=steps,
                    recording=settings.upstream is not None,
                )
            finally:
                timer.run_out()
