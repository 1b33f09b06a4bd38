"""The fixture behind `run`: conversations with one agent, one call at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from seatrial.binding import Agent, Binding, Composition, Forks, InputRefused, Stops
from seatrial.clock import TrialClock, VirtualTimer, pass_time
from seatrial.conversation import Conversation, ConversationState, Reply
from seatrial.gateway.recording import Recording
from seatrial.gateway.seen import SeenRequest
from seatrial.gateway.server import Gateway
from seatrial.gateway.watcher import Nobody
from seatrial.history import HistoryItem, HistoryReply, exchanges
from seatrial.idle import NotIdle, until_idle
from seatrial.inputs import Input, WebStop
from seatrial.progress import OnProgress
from seatrial.steps import StepLog
from seatrial.trial.earlier_replies import EarlierReplies
from seatrial.trial.findings import trial_findings
from seatrial.trial.settings import TrialBroken, TrialInvalid
from seatrial.trial.watch import Watch
from seatrial.verdict import Finding
from seatrial.work import BackgroundWork, WorkQueue


class Trial:
    """One agent and everything around it."""

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
        idle_seconds: float,
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
        self._idle_seconds = idle_seconds
        self._conversations = 0
        self._numbers: dict[str, int] = {}
        self._earlier = EarlierReplies()
        self._sent = 0
        self._inserted = 0
        self._busy = False
        self.calls: list[Conversation] = []
        """Every call that came back, in order."""

    async def run(
        self,
        inputs: Input | Sequence[Input],
        *,
        history: Sequence[HistoryItem] = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Start a new conversation, send the inputs as one batch, and return when the agent is idle."""
        return await self._call(None, inputs, history, on_progress)

    async def load(self, history: Sequence[HistoryItem]) -> str:
        """Start a conversation that has only happened, at the time that it is now; return its id. It runs nothing."""
        self._refuse_while_busy()
        self._check(history)
        self._conversations += 1
        conversation_id = await self._store(history, None)
        self._numbers[conversation_id] = self._conversations
        return conversation_id

    async def continue_conversation(
        self,
        conversation_id: str,
        inputs: Input | Sequence[Input],
        history: Sequence[HistoryItem],
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Send to a conversation of this trial at its current state."""
        return await self._call(conversation_id, inputs, history, on_progress)

    async def fork_conversation(self, conversation_id: str, reply: Reply | HistoryReply) -> Conversation:
        """Branch off a conversation after one of its replies. It runs nothing, so the fork has done nothing yet.

        Raises TrialInvalid for a reply that is none of the conversation, and for an agent that cannot fork.
        """
        self._refuse_while_busy()
        if not isinstance(self._agent, Forks):
            raise TrialInvalid("the agent under test cannot fork: its binding's agent has no 'fork'")
        if isinstance(reply, HistoryReply):
            try:
                message_id = self._earlier.id_of(conversation_id, reply)
            except LookupError as error:
                raise TrialInvalid(str(error.args[0])) from error
        else:
            message_id = reply.id
        try:
            fork_id = await self._agent.fork(conversation_id, message_id, key=self._key())
        except InputRefused as error:
            raise TrialBroken(f"a fork was refused: {error}") from error
        self._conversations += 1
        self._numbers[fork_id] = self._conversations
        state = await self._agent.read(fork_id)
        return self._conversation(fork_id, state.after(state), self._steps.mark())

    async def replies(self, conversation_id: str) -> tuple[Reply, ...]:
        """Return everything that people have seen from the agent in a conversation, loaded history too."""
        return (await self._agent.read(conversation_id)).replies

    async def insert(self, kind: str, data: Mapping[str, Any]) -> None:
        """Store one piece of setup data, as the agent itself would. It runs nothing and no turn sees it as its own.

        Raises TrialInvalid for data that the agent so composed cannot have, and RuntimeError while a call runs.
        """
        self._refuse(self._binding.check_setup(kind, data, self._composition))
        self._refuse_while_busy()
        self._inserted += 1
        await self._agent.insert(kind, data, key=f"setup-{self._inserted}")

    async def _call(
        self,
        conversation_id: str | None,
        inputs: Input | Sequence[Input],
        history: Sequence[HistoryItem],
        on_progress: OnProgress | None,
    ) -> Conversation:
        batch = list(inputs) if isinstance(inputs, Sequence) else [inputs]
        if not batch:
            raise ValueError("a call sends at least one input")
        self._refuse_while_busy()
        self._check(history)
        self._busy = True
        try:
            return await self._send_and_wait(conversation_id, batch, history, on_progress)
        finally:
            self._busy = False

    async def _send_and_wait(
        self,
        conversation_id: str | None,
        batch: list[Input],
        history: Sequence[HistoryItem],
        on_progress: OnProgress | None,
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
            conversation_id = await self._send(item, conversation_id)
        assert conversation_id is not None
        self._numbers[conversation_id] = number
        self._gateway.register_conversation(conversation_id)
        await self._work(conversation_id, on_progress)
        await self._settle()
        state = (await self._agent.read(conversation_id)).after(before)
        conversation = self._conversation(conversation_id, state, mark)
        self.calls.append(conversation)
        failed = self._failures()
        if failed and not self.missed:  # what failed after a miss failed because of it
            raise TrialBroken(failed[0])
        return conversation

    async def _send(self, item: Input, conversation_id: str | None) -> str:
        """Post one input; return the conversation that it is in."""
        try:
            if not isinstance(item, WebStop):
                return (await self._agent.send(item, conversation_id=conversation_id, key=self._key())).conversation_id
            if conversation_id is None:
                raise TrialInvalid("a stop starts no conversation: send it to one that is there")
            if not isinstance(self._agent, Stops):
                raise TrialInvalid("the agent under test cannot be stopped: its binding's agent has no 'stop'")
            await self._agent.stop(conversation_id, author=item.author)
            return conversation_id
        except InputRefused as error:
            raise TrialBroken(f"an input was refused: {error}") from error

    async def _work(self, conversation_id: str, on_progress: OnProgress | None) -> None:
        """Let the agent work until it is idle, and the handler of the call look on. Raises what the handler raises."""
        actions = _Actions(self, conversation_id)
        watch = Watch(on_progress, actions, self._timer)
        self._gateway.watcher = watch
        idle = asyncio.ensure_future(self._until_idle(watch))
        try:
            await asyncio.wait({idle, watch.failed}, return_when=asyncio.FIRST_COMPLETED)
            if watch.failed.done():
                watch.failed.result()
            idle.result()
        except NotIdle as error:
            raise TrialBroken(str(error)) from error
        finally:
            idle.cancel()
            await asyncio.gather(idle, return_exceptions=True)
            self._gateway.watcher = Nobody()
            actions.over = True
            await watch.close()

    async def _until_idle(self, watch: Watch) -> None:
        """Bring the agent to rest, again when the handler has done something while it came there."""
        while True:
            await until_idle(
                self._queue,
                self._background,
                self._timer,
                agent_pending=self._agent.pending,
                agent_errors=self._failures,
                waits_for_upstream=lambda: self._recording and self._gateway.in_flight > watch.holding,
                held=lambda: watch.pending() + self._gateway.held(),
                paused=watch.paused,
                seconds=self._idle_seconds,
            )
            if not watch.pending():
                return
            if not await watch.returned(self._idle_seconds):
                raise NotIdle(watch.pending(), seconds=self._idle_seconds)

    def _conversation(self, conversation_id: str, state: ConversationState, mark: int) -> Conversation:
        return Conversation(
            conversation_id=conversation_id,
            number=self._numbers[conversation_id],
            replies=state.replies,
            tool_calls=tuple(call for turn in state.turns for call in turn.tool_calls),
            turns=state.turns,
            title=state.title,
            steps=tuple(step for step in self._steps.since(mark) if step.conversation_id == conversation_id),
            transcript=state.transcript,
            _driver=self,
        )

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
        conversation_id = await self._agent.load_history(turns, conversation_id=conversation_id, key=self._key())
        self._earlier.add(conversation_id, history, await self.replies(conversation_id))
        return conversation_id

    def _refuse(self, mistakes: Sequence[str]) -> None:
        if mistakes:
            raise TrialInvalid("; ".join(mistakes))

    async def _settle(self) -> None:
        """Wait until the gateway has closed its books on every request of the call."""
        try:
            async with asyncio.timeout(self._idle_seconds):
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
        return trial_findings(
            self._gateway, failures=self._failures(), unknown_steps=self._steps.unknown, recording=self._recording
        )


class _Actions:
    """What the handler of one call can do in its conversation."""

    def __init__(self, trial: Trial, conversation_id: str) -> None:
        self._trial = trial
        self._conversation_id = conversation_id
        self.over = False

    async def send(self, item: Input) -> None:
        """Send an input and return when it is in the mailbox."""
        self._refuse_when_over()
        await self._trial._send(item, self._conversation_id)

    async def advance(self, seconds: float) -> None:
        """Move time forward step by step."""
        self._refuse_when_over()
        await pass_time(self._trial._timer, seconds)

    def _refuse_when_over(self) -> None:
        if self.over:
            raise RuntimeError("the call is over, and what its handler could do with it: send in a call of its own")
