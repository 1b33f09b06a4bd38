"""The Protocol by which Seatrial drives an agent. Seatrial itself knows no agent."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import yaml

from seatrial.clock import TrialClock, VirtualTimer
from seatrial.conversation import ConversationState
from seatrial.headers import HeaderNames
from seatrial.history import Exchange, HistoryReply, RecordedConversation
from seatrial.ids import TrialIds
from seatrial.inputs import WebMessage
from seatrial.kill import Kill, LogRow
from seatrial.slack import SlackAccess, SlackMember, SlackPost, SlackRequest, SlackThread
from seatrial.work import BackgroundWork, WorkQueue


@dataclass(frozen=True)
class Calendar:
    """How days and weeks are counted: an IANA zone and the first day of the week, in English."""

    zone: str = "UTC"
    week_starts: str = "monday"


@dataclass(frozen=True)
class Composition:
    """Which agent is under test: the plugins and limits that the app is made with, and whether it is on Slack."""

    plugins: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    slack: bool = False


@dataclass(frozen=True)
class World:
    """Everything that the harness supplies to one agent under test."""

    postgres_url: str
    redis_url: str
    model_url: str
    clock: TrialClock
    timer: VirtualTimer
    calendar: Calendar
    ids: TrialIds
    queue: WorkQueue
    background: BackgroundWork
    on_step: Callable[[str, str, Mapping[str, Any]], None]
    composition: Composition
    snapshot: Mapping[str, Any] | None
    slack: SlackAccess | None = None
    """The agent's installation on Slack; None for an agent that is not there."""


@dataclass(frozen=True)
class Sent:
    """Where an input arrived."""

    conversation_id: str
    message_id: str


class Agent(Protocol):
    """One running agent: how inputs reach it and how its conversations are read.

    An agent that can more has the methods of `Forks`, `Stops`, `OnSlack` and `Restarts` too.
    """

    async def send(self, item: WebMessage, *, conversation_id: str | None, key: str) -> Sent:
        """Post one message through its production route and return when it is in the mailbox.

        ``key`` is the idempotency key; ``conversation_id`` None starts a conversation. Raises
        InputRefused when the route does not accept it.
        """

    async def read(self, conversation_id: str) -> ConversationState:
        """Return the conversation as the reporting API tells it."""

    async def load_history(self, turns: tuple[Exchange, ...], *, conversation_id: str | None, key: str) -> str:
        """Store earlier turns with the functions that turns use; return the conversation's id."""

    async def insert(self, kind: str, data: Mapping[str, Any], *, key: str) -> None:
        """Store one piece of setup data with the function that the agent itself uses. It runs nothing.

        ``kind`` and ``data`` have passed `Binding.check_setup`; ``key`` is unique in the trial.
        """

    def pending(self) -> tuple[str, ...]:
        """Name work of the agent that the supplied queue and background runner do not know of."""

    def errors(self) -> tuple[str, ...]:
        """Name what failed inside the agent without reaching a person, oldest first."""


@runtime_checkable
class Forks(Protocol):
    """An agent whose conversations can be branched off. Optional: a test that forks needs it."""

    async def fork(self, conversation_id: str, message_id: str, *, key: str) -> str:
        """Branch off after a reply by the production route, and return the new conversation's id. It runs nothing.

        ``message_id`` is the reply's, ``key`` the idempotency key. Raises InputRefused.
        """


@runtime_checkable
class Decides(Protocol):
    """An agent whose decisions can be asked for one by one. Optional: a test of a decision needs it."""

    async def decide(self, kind: str, proposal: Mapping[str, Any], *, conversation_id: str) -> Mapping[str, Any]:
        """Call the public function that decides this in a turn, with the model, time and steps of the world.

        Its requests name the conversation. Raises InputRefused, in words, for a decision that the agent does not make
        and for a proposal that does not fit.
        """


@runtime_checkable
class LoadsRecorded(Protocol):
    """An agent that reads what its own export wrote. Optional: a test with a recorded conversation needs it."""

    async def load_recorded(self, recorded: RecordedConversation, *, conversation_id: str | None, key: str) -> str:
        """Store a recorded conversation by the agent's own functions, whole or not at all; return its id.

        With a conversation's id, it follows what is there. ``key`` is unique in the trial. Raises ValueError, in words.
        """


@runtime_checkable
class ChecksRecorded(Protocol):
    """A binding that can say of a recorded conversation whether its agent would load it, without an agent. Optional."""

    def check_recorded(self, recorded: RecordedConversation) -> tuple[str, ...]:
        """Return every mistake in a recorded conversation, in words."""


@runtime_checkable
class TellsEvents(Protocol):
    """An agent whose reporting API tells each event of a conversation. Optional: proofs about stored rows need it."""

    async def all_events(self, conversation_id: str) -> tuple[Mapping[str, Any], ...]:
        """Return the events of a conversation, from its beginning, as the API tells them."""


@runtime_checkable
class Stops(Protocol):
    """An agent that people can tell to stop. Optional: a test that sends a stop needs it."""

    async def stop(self, conversation_id: str, *, author: str) -> None:
        """Tell the agent to stop, by the production route, and return when it knows. Raises InputRefused."""


@dataclass(frozen=True)
class SlackExchange:
    """One earlier turn in a thread: what people wrote and the answer, as they stand there. ``reply`` has its tools."""

    messages: tuple[SlackPost, ...]
    answer: SlackPost
    reply: HistoryReply


@runtime_checkable
class OnSlack(Protocol):
    """An agent that people talk to on Slack. Optional: a test that does so needs it."""

    async def meet(self, member: SlackMember) -> None:
        """Hear who a member is, before Slack tells anything of the member.

        An agent that knows its people elsewhere too connects both here: the name is the author's of other inputs.
        """

    async def receive(self, request: SlackRequest) -> None:
        """Post what Slack sends to the production route, as it is. Raises InputRefused unless the answer is 200."""

    def conversation_in(self, thread: SlackThread, starter: SlackMember) -> str:
        """Return the id of the conversation that the agent has in a thread, or will have when it is spoken to."""

    async def load_slack_history(
        self, turns: tuple[SlackExchange, ...], *, thread: SlackThread, starter: SlackMember, key: str
    ) -> str:
        """Do what `Agent.load_history` does for a thread, and follow it as after an answer; return the id."""


@runtime_checkable
class Restarts(Protocol):
    """An agent in a process of its own, which can be killed and started again. Optional: a test that kills needs it.

    While it is dead, `Agent.send` and `Agent.read` raise AgentGone, and `Agent.pending` says that it is dead.
    """

    @property
    def kill_points(self) -> tuple[str, ...]:
        """Name the points at which it can be killed. Each is seen from outside, by a seam that production has too."""

    @property
    def died(self) -> asyncio.Future[str]:
        """Done when the process has ended, in words that say how. After a restart it is another one."""

    def kill_at(self, kill: Kill) -> None:
        """Order the process to kill itself, without a last word, when it comes to a point. It counts from now on."""

    async def restart(self) -> None:
        """Start it again on the same stores, and return when it serves. What only its memory held is gone."""

    async def log(self, conversation_id: str) -> tuple[LogRow, ...]:
        """Read the whole log of a conversation, oldest first, by the route that people have."""


class Binding(Protocol):
    """How to make and drive one kind of agent."""

    @property
    def header_names(self) -> HeaderNames:
        """In which request headers the agent says who asks the model, and for whom."""

    @property
    def model_aliases(self) -> tuple[str, ...]:
        """The model names that the agent uses in its requests; the upstream has its own."""

    @property
    def needs_stores(self) -> bool:
        """Whether the agent needs PostgreSQL and Redis. Without them a trial starts neither."""

    def contracts(self, composition: Composition) -> Mapping[str, int]:
        """Return the version of each public contract of the agent so composed.

        Raises UnknownPlugin for a plugin that the agent does not have.
        """

    def check_snapshot(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return every mistake in the data of a snapshot fixture, in words."""

    def check_limits(self, limits: Mapping[str, Any]) -> tuple[str, ...]:
        """Return every mistake in a case's limits, in words."""

    def check_setup(self, kind: str, data: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        """Return every mistake in one piece of setup data for the agent so composed, in words.

        Data for a plugin that is not composed is one: the words say what to add.
        """

    def check_tool_call(self, name: str, input: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        """Return every mistake in a call of a tool that history says was made, in words."""

    def database_fingerprint(self) -> str:
        """Return a value that changes when `prepare_database` would make another database."""

    def prepare_database(self, postgres_url: str) -> None:
        """Bring an empty database to the schema that the agent expects."""

    def running(self, world: World) -> AbstractAsyncContextManager[Agent]:
        """Make the app with the world's seams, serve it, and stop it at the end."""


class AgentGone(Exception):
    """The agent died before it answered, or is dead."""


class InputRefused(Exception):
    """A route of the agent did not accept an input."""


class BindingError(Exception):
    """``binding.yaml`` or what it names cannot be used."""


@dataclass(frozen=True)
class BindingFile:
    """What ``binding.yaml`` says: the binding's class, the folder that a case's files are relative to,
    the default composition, and the plugins by name with the Python modules of each.

    The modules are for the build, which makes them dependencies of the cases composed with the plugin: the plugin
    itself, and what of the binding belongs to it alone.
    """

    path: Path
    target: str
    root: Path
    default: Composition
    plugins: Mapping[str, tuple[str, ...]]

    def load(self) -> Binding:
        """Import and make the binding. Raises BindingError naming what is missing."""
        module_name, _, class_name = self.target.partition(":")
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise BindingError(
                f"{self.path}: the binding module '{module_name}' cannot be imported: {error}"
            ) from error
        made: Binding | None = getattr(module, class_name, lambda: None)()
        if made is None:
            raise BindingError(f"{self.path}: module '{module_name}' has no class '{class_name}'")
        return made


def read_binding_file(path: Path) -> BindingFile:
    """Read ``binding.yaml``. Raises BindingError with the file's name and what is wrong."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BindingError(f"{path}: cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise BindingError(f"{path}: has to be a mapping with 'binding' and 'root'")
    target, root = data.get("binding"), data.get("root")
    if not isinstance(target, str) or target.count(":") != 1:
        raise BindingError(f"{path}: 'binding' has to be 'module:Class', not {target!r}")
    if not isinstance(root, str):
        raise BindingError(f"{path}: 'root' has to be the folder that a case's files are relative to, not {root!r}")
    default, plugins = data.get("default") or {}, data.get("plugins") or {}
    if not isinstance(default, dict) or not isinstance(plugins, dict):
        raise BindingError(f"{path}: 'default' and 'plugins' have to be mappings")
    composition = Composition(plugins=tuple(default.get("plugins") or ()), limits=dict(default.get("limits") or {}))
    modules = {str(name): _modules(path, str(name), value) for name, value in plugins.items()}
    return BindingFile(path, target, Path(root), composition, modules)


def _modules(path: Path, plugin: str, value: Any) -> tuple[str, ...]:
    """Return the modules of a plugin: one name, or a list of names."""
    names: Sequence[Any] = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BindingError(f"{path}: 'plugins.{plugin}' has to be a Python module or a list of them, not {value!r}")
    return tuple(names)
