"""What a test is given: the fixtures `run` and `agent`, as types. `seatrial.pytest_plugin` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from seatrial.clock import TrialClock
from seatrial.conversation import Conversation, Decision
from seatrial.history import History
from seatrial.inputs import TEAM, Input
from seatrial.kill import Kill, LogRow
from seatrial.progress import OnProgress
from seatrial.steps import StepSeen


class Run(Protocol):
    """The fixture `run`: start a conversation with the agent of the default composition."""

    async def __call__(
        self,
        inputs: Input | Sequence[Input],
        *,
        history: History = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Send, and return when the agent is idle."""


class Crash(Protocol):
    """A call in which the agent was killed. The agent is dead when a test gets this."""

    @property
    def answered(self) -> bool:
        """Whether all inputs had their answer: people were told that what they sent is safe."""

    @property
    def steps(self) -> tuple[StepSeen, ...]:
        """What the agent reported in this call before it died."""

    @property
    def asked(self) -> tuple[Mapping[str, Any], ...]:
        """What the model was asked for the conversation's turns since the inputs were first sent, by any process."""

    async def log(self) -> tuple[LogRow, ...]:
        """Read the conversation's log, from its beginning, as the living agent tells of it."""

    async def restart(self) -> tuple[StepSeen, ...]:
        """Start the agent again, and return what it reports until it is idle: what it does without anybody's help."""

    async def send_again(self) -> Conversation:
        """Send all inputs again with their idempotency keys, as a client does that knows of no answer.

        An agent that is dead is started first, and gets them before it has done any work. Return when the agent is
        idle, with everything that the conversation did since the inputs were first sent.
        """


class AgentUnderTest(Protocol):
    """One agent, made with the options of its composition. Its calls do not overlap."""

    @property
    def clock(self) -> TrialClock:
        """The trial's clock; ``clock.advance(seconds)`` moves time."""

    async def run(
        self,
        inputs: Input | Sequence[Input],
        *,
        history: History = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Start a new conversation with this agent; return when it is idle."""

    async def crash(
        self,
        inputs: Input | Sequence[Input],
        kill: Kill,
        *,
        conversation: Conversation | None = None,
        on_progress: OnProgress | None = None,
    ) -> Crash:
        """Send, have the agent killed, and return when it is dead.

        A test whose binding does not run the agent in a process that can be killed is *invalid*.
        """

    async def events(self, conversation: Conversation) -> tuple[Mapping[str, Any], ...]:
        """Read what the agent's reporting API tells of each event of a conversation, from its beginning.

        It is for proofs about the agent's log. Every other test asserts on what people see.
        """

    async def decide(self, kind: str, **proposal: Any) -> Decision:
        """Ask for one decision by itself: the public function that a turn calls, with the model behind the gateway.

        ``kind`` and ``proposal`` are the agent's words. A test of a decision that the agent does not make is *invalid*.
        """

    def fail_on_slack(
        self,
        method: str,
        *,
        error: str = "",
        retry_after: int | None = None,
        drop: Literal["before", "after"] | None = None,
        times: int = 1,
    ) -> None:
        """Let the next calls of a method of Slack's fail: with an error of Slack's, or by a connection that is cut.

        ``retry_after`` are the seconds that go with the error ``ratelimited``; ``drop`` says whether the connection is
        cut before the call takes effect or after.
        """

    def reject_next_model_request(
        self, kind: str, *, times: int = 1, role: str = "agent", retry_after: int | None = None
    ) -> None:
        """Let the next requests to the model fail with a provider's error of this kind (`seatrial.gateway.faults`).

        ``retry_after`` are the seconds that the answer asks to wait for. A request that fails so uses no recorded
        answer up.
        """

    def time_out_next_model_request(self, *, times: int = 1, role: str = "agent") -> None:
        """Let the next requests to the model go without an answer until the agent gives them up; time passes for it."""

    def cut_next_stream(self, *, after: int = 0, times: int = 1, role: str = "agent") -> None:
        """Let the next streams of the model break off after so many events of the recorded answer.

        In a run that records nothing is there yet to be cut, and the stream breaks off at its beginning.
        """

    async def insert_memory(self, text: str, *, about: str = TEAM) -> None:
        """Store what the agent remembers, of the team or of the person that ``about`` names. It runs nothing."""


class MakeAgent(Protocol):
    """The fixture `agent`: make the agent under test, at most once a test."""

    async def __call__(
        self, *, plugins: Sequence[str] | None = None, limits: Mapping[str, Any] | None = None, slack: bool = False
    ) -> AgentUnderTest:
        """Make it with these options of its composition, or with the binding's default ones; on Slack, or not there."""
