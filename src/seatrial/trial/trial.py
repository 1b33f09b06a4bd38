"""The fixture behind `run`: conversations with one agent, one call at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from seatrial.binding import Agent, AgentGone, Binding, Composition, Forks, InputRefused, Restarts, Stops
from seatrial.clock import TrialClock, VirtualTimer
from seatrial.conversation import Conversation, ConversationState, Decision, Reply
from seatrial.gateway.recording import Recording
from seatrial.gateway.seen import SeenRequest
from seatrial.gateway.server import Gateway
from seatrial.gateway.watcher import Nobody
from seatrial.history import History, HistoryReply, RecordedConversation, exchanges, on_slack
from seatrial.idle import NotIdle, until_idle
from seatrial.inputs import Input, SlackInput, WebStop
from seatrial.kill import Kill
from seatrial.progress import OnProgress
from seatrial.steps import StepLog
from seatrial.trial.actions import CallActions
from seatrial.trial.crash import Crash
from seatrial.trial.decisions import Deciding
from seatrial.trial.earlier_replies import EarlierReplies
from seatrial.trial.faults import NOT_ON_SLACK, OrderedFaults
from seatrial.trial.findings import trial_findings
from seatrial.trial.recorded import events_of, history_mistakes, load_recorded
from seatrial.trial.settings import TrialBroken, TrialInvalid
from seatrial.trial.slack import SlackSide
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
        slack: SlackSide | None = None,
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
        self._slack = slack
        self.faults = OrderedFaults(gateway.faults, slack)
        self._conversations = 0
        self._numbers: dict[str, int] = {}
        self._earlier = EarlierReplies()
        self._sent = 0
        bound = None if recording else idle_seconds
        self._deciding = Deciding(agent, gateway, steps, timer, seconds=bound)
        self._inserted = 0
        self._busy = False
        self.calls: list[Conversation] = []
        """Every call that came back, in order."""

    async def run(
        self,
        inputs: Input | Sequence[Input],
        *,
        history: History = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Start a new conversation, send the inputs as one batch, and return when the agent is idle."""
        return await self._call(None, inputs, history, on_progress)

    async def load(self, history: History) -> str:
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
        history: History,
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Send to a conversation of this trial at its current state."""
        return await self._call(conversation_id, inputs, history, on_progress)

    async def crash(
        self,
        inputs: Input | Sequence[Input],
        kill: Kill,
        *,
        conversation_id: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Crash:
        """Send to a new conversation, or to one that is there, have the agent killed, and return when it is dead.

        Raises TrialInvalid for an agent that cannot be killed so, and TrialBroken when it never comes to the point.
        """
        crash = Crash(self, _batch(inputs), conversation_id)
        with self._calling():
            await crash.happen(kill, on_progress)
        return crash

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
        return self._conversation(fork_id, state.after(state), self._steps.mark(), self._slack_mark())

    async def decide(self, kind: str, proposal: Mapping[str, Any]) -> Decision:
        """Ask for one decision of the agent's by itself. It belongs to no conversation and runs no turn."""
        with self._calling():
            decision, told = await self._deciding.decide(kind, proposal, self, CallActions(self, None))
            await self._settle()
        self.calls.append(told)
        self._check_failures()
        return decision

    async def events(self, conversation_id: str) -> tuple[Mapping[str, Any], ...]:
        """Return what the agent's reporting API tells of each event of a conversation."""
        return await events_of(self._agent, conversation_id)

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
        history: History,
        on_progress: OnProgress | None,
    ) -> Conversation:
        batch = _batch(inputs)
        self._refuse_while_busy()
        self._check(history)
        with self._calling():
            return await self._send_and_wait(conversation_id, batch, history, on_progress)

    async def _send_and_wait(
        self,
        conversation_id: str | None,
        batch: list[Input],
        history: History,
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
        mark, slack_mark = self._steps.mark(), self._slack_mark()
        for item in batch:
            conversation_id = await self._send(item, conversation_id)
        assert conversation_id is not None
        self._numbers[conversation_id] = number
        self._gateway.register_conversation(conversation_id)
        await self._work(conversation_id, on_progress)
        await self._settle()
        self._gateway.agent_idle()
        state = (await self._agent.read(conversation_id)).after(before)
        conversation = self._conversation(conversation_id, state, mark, slack_mark)
        self.calls.append(conversation)
        self._check_failures()
        return conversation

    async def _send(self, item: Input, conversation_id: str | None, key: str | None = None) -> str:
        """Post one input, with the key that it had before; return the conversation that it is in. Raises AgentGone."""
        try:
            if isinstance(item, SlackInput):
                return await self._on_slack().send(item, conversation_id, key or self._key())
            if not isinstance(item, WebStop):
                key = key or self._key()
                return (await self._agent.send(item, conversation_id=conversation_id, key=key)).conversation_id
            if conversation_id is None:
                raise TrialInvalid("a stop starts no conversation: send it to one that is there")
            if not isinstance(self._agent, Stops):
                raise TrialInvalid("the agent under test cannot be stopped: its binding's agent has no 'stop'")
            await self._agent.stop(conversation_id, author=item.author)
            return conversation_id
        except InputRefused as error:
            raise TrialBroken(f"an input was refused: {error}") from error

    async def _work(self, conversation_id: str | None, on_progress: OnProgress | None) -> None:
        """Let the agent work until it is idle, and the handler of the call look on.

        Raises what the handler raises, and AgentGone when the agent dies before it is idle.
        """
        actions = CallActions(self, conversation_id)
        watch = Watch(on_progress, actions, self._timer)
        self._gateway.watcher = watch
        if self._slack is not None:
            self._slack.watch = watch
        idle = asyncio.ensure_future(self._until_idle(watch))
        ends: set[asyncio.Future[Any]] = {idle, watch.failed}
        died = self._agent.died if isinstance(self._agent, Restarts) else None
        try:
            await asyncio.wait(ends | ({died} if died is not None else set()), return_when=asyncio.FIRST_COMPLETED)
            if watch.failed.done():
                watch.failed.result()
            if died is not None and died.done() and not idle.done():
                raise AgentGone(died.result())
            idle.result()
        except NotIdle as error:
            raise TrialBroken(str(error)) from error
        finally:
            idle.cancel()
            await asyncio.gather(idle, return_exceptions=True)
            self._gateway.watcher = Nobody()
            if self._slack is not None:
                self._slack.watch = None
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

    def _conversation(self, conversation_id: str, state: ConversationState, mark: int, slack_mark: int) -> Conversation:
        slack = () if self._slack is None else self._slack.since(slack_mark, conversation_id)
        return Conversation(
            conversation_id=conversation_id,
            number=self._numbers[conversation_id],
            replies=state.replies,
            tool_calls=tuple(call for turn in state.turns for call in turn.tool_calls),
            turns=state.turns,
            title=state.title,
            steps=tuple(step for step in self._steps.since(mark) if step.conversation_id == conversation_id),
            transcript=state.transcript,
            slack=slack,
            _driver=self,
        )

    def _failures(self) -> tuple[str, ...]:
        """Name what has failed without reaching a person: model traffic, background work, the agent's own errors."""
        slack = () if self._slack is None else self._slack.problems()
        return (*self._gateway.problems, *slack, *self._background.failures(), *self._agent.errors())

    def _check_failures(self) -> None:
        failed = self._failures()
        if failed and not self.missed:  # what failed after a miss failed because of it
            raise TrialBroken(failed[0])

    def _refuse_while_busy(self) -> None:
        if self._busy:
            raise RuntimeError("calls on one agent do not overlap: await the call before, then send the next")
        if isinstance(self._agent, Restarts) and self._agent.died.done():
            raise TrialBroken(f"the agent is dead ({self._agent.died.result()}): start it again before the next call")

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """Be busy with one call. An agent that dies in it, and was not to, breaks the trial."""
        self._refuse_while_busy()
        self._busy = True
        try:
            yield
        except AgentGone as error:
            raise TrialBroken(f"the agent died in a call that did not kill it: {error}") from error
        finally:
            self._busy = False

    def _check(self, history: History) -> None:
        self._refuse(history_mistakes(history, self._agent, self._binding, self._composition))

    async def _store(self, history: History, conversation_id: str | None) -> str:
        if isinstance(history, RecordedConversation):
            return await load_recorded(self._agent, self._earlier, history, conversation_id, self._key())
        turns = exchanges(tuple(history))
        if on_slack(turns):
            conversation_id = await self._on_slack().store(turns, conversation_id, self._key())
        else:
            conversation_id = await self._agent.load_history(turns, conversation_id=conversation_id, key=self._key())
        self._earlier.add(conversation_id, history, await self.replies(conversation_id))
        return conversation_id

    def _on_slack(self) -> SlackSide:
        if self._slack is None:
            raise TrialInvalid(NOT_ON_SLACK)
        return self._slack

    def _slack_mark(self) -> int:
        return 0 if self._slack is None else self._slack.mark()

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


def _batch(inputs: Input | Sequence[Input]) -> list[Input]:
    batch = list(inputs) if isinstance(inputs, Sequence) else [inputs]
    if not batch:
        raise ValueError("a call sends at least one input")
    return batch
