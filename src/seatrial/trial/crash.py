"""A call in which the agent is killed: what it had come to, its restart, and its client, who sends again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seatrial.binding import AgentGone, Restarts
from seatrial.conversation import Conversation, ConversationState
from seatrial.inputs import Input
from seatrial.kill import Kill, LogRow
from seatrial.nearest import did_you_mean
from seatrial.progress import OnProgress
from seatrial.steps import StepSeen
from seatrial.trial.settings import TrialBroken, TrialInvalid

if TYPE_CHECKING:
    from seatrial.trial.trial import Trial


class Crash:
    """The agent is dead when a test gets this. `restart` starts it again, `send_again` does what its client does then.

    The stores and what waits in the queue outlive the agent; the nudge that it had in hand and its background work do
    not.
    """

    def __init__(self, trial: Trial, inputs: Sequence[Input], conversation_id: str | None) -> None:
        self._trial = trial
        self._inputs = inputs
        self._keys: list[str] = []
        self._conversation_id = conversation_id
        self._before: ConversationState | None = None
        self._mark = 0
        self._earlier = len(trial.requests)
        self._slack_mark = 0
        self.answered = False
        """Whether all inputs had their answer: people were told that what they sent is safe."""
        self.steps: tuple[StepSeen, ...] = ()
        """What the agent reported in this call before it died."""

    async def happen(self, kill: Kill, on_progress: OnProgress | None) -> None:
        """Send the inputs to an agent that is ordered to die, and return when it has. For the trial."""
        trial, agent = self._trial, _restartable(self._trial, kill)
        if self._conversation_id is None:
            trial._conversations += 1
        else:
            self._before = await trial._agent.read(self._conversation_id)
        self._number = trial._numbers.get(self._conversation_id or "", trial._conversations)
        self._mark, self._slack_mark = trial._steps.mark(), trial._slack_mark()
        self._keys = [trial._key() for _ in self._inputs]
        agent.kill_at(kill)
        try:
            await self._send()
            self.answered = True
            await self._work(on_progress)
        except AgentGone:
            await _ended(agent.died, trial._idle_seconds)
        else:
            told = ", ".join(step.name for step in trial._steps.since(self._mark)) or "no step"
            raise TrialBroken(f"the agent is idle and never came to {kill}, where it was to die; it reported {told}")
        trial._queue.lose()
        trial._background.lose()
        await trial._settle()
        self.steps = trial._steps.since(self._mark)

    @property
    def asked(self) -> tuple[Mapping[str, Any], ...]:
        """What the model was asked for the conversation's turns since the inputs were first sent, by any process."""
        mine = (seen for seen in self._trial.requests[self._earlier :] if seen.conversation == self._number)
        return tuple(json.loads(seen.body) for seen in mine if seen.role == "agent")

    async def log(self) -> tuple[LogRow, ...]:
        """Read the conversation's log, from its beginning, as the living agent tells of it."""
        assert self._conversation_id is not None
        return await self._agent.log(self._conversation_id)

    async def restart(self) -> tuple[StepSeen, ...]:
        """Start the agent again, and return what it reports until it is idle: what it does without anybody's help."""
        trial = self._trial
        if not self._agent.died.done():
            raise RuntimeError("the agent lives: it can be started again once after each crash")
        mark = trial._steps.mark()
        await self._start()
        with trial._calling():
            await self._work(None)
            trial._check_failures()
        return trial._steps.since(mark)

    async def send_again(self) -> Conversation:
        """Send all inputs again with their idempotency keys, as a client does that knows of no answer.

        An agent that is dead is started first, and gets them before it has done any work. Return when the agent is
        idle, with everything that the conversation did since the inputs were first sent.
        """
        trial = self._trial
        if self._agent.died.done():
            await self._start()
        with trial._calling():
            await self._send()
            await self._work(None)
            assert self._conversation_id is not None
            state = (await trial._agent.read(self._conversation_id)).after(self._before)
            conversation = trial._conversation(self._conversation_id, state, self._mark, self._slack_mark)
            trial.calls.append(conversation)
            trial._check_failures()
        return conversation

    @property
    def _agent(self) -> Restarts:
        assert isinstance(self._trial._agent, Restarts)
        return self._trial._agent

    async def _start(self) -> None:
        self._trial._gateway.agent_restarted()
        await self._agent.restart()

    async def _send(self) -> None:
        for item, key in zip(self._inputs, self._keys, strict=True):
            self._conversation_id = await self._trial._send(item, self._conversation_id, key)
            self._trial._numbers[self._conversation_id] = self._number
            self._trial._gateway.register_conversation(self._conversation_id)

    async def _work(self, on_progress: OnProgress | None) -> None:
        await self._trial._work(self._conversation_id, on_progress)
        await self._trial._settle()
        self._trial._gateway.agent_idle()


def _restartable(trial: Trial, kill: Kill) -> Restarts:
    """Return the agent as one that can be killed so. Raises TrialInvalid, in words."""
    if not isinstance(trial._agent, Restarts):
        raise TrialInvalid("the agent under test cannot be killed: its binding runs it in the test's own process")
    points = trial._agent.kill_points
    unknown = [point for point in (kill.at, kill.since) if point is not None and point not in points]
    if unknown:
        raise TrialInvalid(f"the agent has no kill point '{unknown[0]}'{did_you_mean(unknown[0], points)}")
    if min(kill.nth, kill.since_nth) < 1:
        raise TrialInvalid(f"the agent cannot be killed at {kill}: the first time is 1")
    return trial._agent


async def _ended(died: asyncio.Future[str], seconds: float) -> None:
    """Wait until a process whose connections are broken has ended."""
    if not (await asyncio.wait({died}, timeout=seconds))[0]:
        raise TrialBroken("the agent broke its connections off, and its process lives")
