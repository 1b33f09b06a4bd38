"""The fixture for evals in Python: ``run`` and ``agent``, with a verdict and a record for each test.

Load it by ``-p seatrial.pytest_plugin``. Each test has an agent, stores and a recording of its own:
``<file>.<function>.recording.json`` beside the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio

from seatrial.binding import Binding, BindingFile, Calendar, Composition, read_binding_file
from seatrial.cases.attempt import DEFAULT_INSTANT, request_records
from seatrial.cases.contracts import Holder, contract_findings
from seatrial.clock import TrialClock
from seatrial.conversation import Conversation, Decision
from seatrial.fixture import AgentUnderTest, MakeAgent, Run
from seatrial.gateway.recording import Recording, RecordingBroken, RecordingWithheld, load_recording, write_recording
from seatrial.gateway.upstream import Upstream
from seatrial.history import History, RecordedConversation
from seatrial.inputs import TEAM, Input, SlackInput
from seatrial.kill import Kill
from seatrial.nearest import did_you_mean
from seatrial.progress import OnProgress
from seatrial.report.calls import call_record
from seatrial.report.record import CallRecord, RequestRecord, write_record
from seatrial.report.trial import trial_record
from seatrial.seal_proof import read_seal_proof
from seatrial.stores.embedded import stores_for
from seatrial.trial import Crash, Trial, TrialBroken, TrialInvalid, TrialSettings, open_trial
from seatrial.verdict import Cause, Finding, Verdict, decide

CREDENTIALS = ("SEATRIAL_MODEL_KEY",)
"""Environment variables whose values no recording may hold."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare where the agent under test, its recordings' upstream and the records are."""
    group = parser.getgroup("seatrial", "the agent under test")
    group.addoption("--seatrial-binding", type=Path, help="the binding.yaml of the agent under test")
    group.addoption("--seatrial-cache", type=Path, help="folder that keeps database templates")
    group.addoption("--seatrial-out", type=Path, help="folder for the records, one folder a test")
    group.addoption("--seatrial-address", default="", help="the build's address of the test")
    group.addoption("--seatrial-plugins", help="all plugins that a test may compose, with commas between them")
    group.addoption("--seatrial-upstream", default="", help="record: base URL of the model's API")
    group.addoption("--seatrial-upstream-socket", type=Path, help="record: Unix socket of the model's API")
    group.addoption("--seatrial-upstream-kind", default="openai-compatible", help="record: what it is called")
    group.addoption("--seatrial-upstream-model", default="", help="record: the upstream's name of the model")
    group.addoption("--seatrial-recorded-at", default="", help="record: the instant to write into the recording")


@dataclass
class Eval:
    """What is known about one test while it runs. ``bodies`` are its requests to the model, byte for byte."""

    findings: list[Finding] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    requests: tuple[RequestRecord, ...] = ()
    bodies: tuple[bytes, ...] = ()
    contracts: Mapping[str, int] = field(default_factory=dict)
    made: Recording | None = None
    told: bool = False
    """Whether pytest was told of the findings by failing the test's end, which is then no finding of its own."""


class Hooks:
    """What this plugin tells other plugins."""

    @pytest.hookspec
    def pytest_seatrial_ended(self, known: Eval) -> None:
        """A test that asked for an agent is over, and this is all that is known about it."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare what this plugin tells others."""
    pluginmanager.add_hookspecs(Hooks)


_EVAL = pytest.StashKey[Eval]()
_WORST = pytest.StashKey[int]()


class TrialAgent:
    """The agent of a trial, as a test has it: `seatrial.fixture.AgentUnderTest`."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    @property
    def clock(self) -> TrialClock:
        """The trial's clock; ``clock.advance(seconds)`` moves time."""
        return self._trial.clock

    async def run(
        self,
        inputs: Input | Sequence[Input],
        *,
        history: History = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        """Start a new conversation with this agent; see `seatrial.trial.Trial.run`."""
        return await self._trial.run(inputs, history=history, on_progress=on_progress)

    async def crash(
        self,
        inputs: Input | Sequence[Input],
        kill: Kill,
        *,
        conversation: Conversation | None = None,
        on_progress: OnProgress | None = None,
    ) -> Crash:
        """Send, have the agent killed, and return when it is dead; see `seatrial.trial.Crash`.

        A test whose binding does not run the agent in a process that can be killed is *invalid*.
        """
        where = None if conversation is None else conversation.conversation_id
        return await self._trial.crash(inputs, kill, conversation_id=where, on_progress=on_progress)

    async def events(self, conversation: Conversation) -> tuple[Mapping[str, Any], ...]:
        """Read what the agent's reporting API tells of each event of a conversation."""
        return await self._trial.events(conversation.conversation_id)

    async def decide(self, kind: str, **proposal: Any) -> Decision:
        """Ask for one decision of the agent's by itself; see `seatrial.binding.Decides`."""
        return await self._trial.decide(kind, proposal)

    def fail_on_slack(
        self,
        method: str,
        *,
        error: str = "",
        retry_after: int | None = None,
        drop: Literal["before", "after"] | None = None,
        times: int = 1,
    ) -> None:
        """Let the next calls of a method of Slack's fail; see `seatrial.standins.slack.Fault`."""
        self._trial.faults.of_slack(method, error=error, retry_after=retry_after, drop=drop, times=times)

    def reject_next_model_request(
        self, kind: str, *, times: int = 1, role: str = "agent", retry_after: int | None = None
    ) -> None:
        """Let the next requests to the model fail with a provider's error of this kind."""
        self._trial.faults.of_model(reject=kind, times=times, role=role, retry_after=retry_after)

    def time_out_next_model_request(self, *, times: int = 1, role: str = "agent") -> None:
        """Let the next requests to the model go without an answer until the agent gives them up."""
        self._trial.faults.of_model(time_out=True, times=times, role=role)

    def cut_next_stream(self, *, after: int = 0, times: int = 1, role: str = "agent") -> None:
        """Let the next streams of the model break off after so many events of the recorded answer."""
        self._trial.faults.of_model(cut_after=after, times=times, role=role)

    async def insert_memory(self, text: str, *, about: str = TEAM) -> None:
        """Store what the agent remembers, of the team or of the person that ``about`` names. It runs nothing.

        A test whose agent is composed without memory is *invalid*.
        """
        await self._trial.insert("memory", {"text": text, "about": about})


@pytest_asyncio.fixture
async def agent(request: pytest.FixtureRequest) -> AsyncIterator[MakeAgent]:
    """Make the agent under test: ``await agent(plugins=[…], limits={…})``, at most once a test."""
    state = request.node.stash.setdefault(_EVAL, Eval())
    file, binding = _binding(request.config)
    trials: list[Trial] = []
    async with AsyncExitStack() as stack:

        async def make(
            *, plugins: Sequence[str] | None = None, limits: Mapping[str, Any] | None = None, slack: bool = False
        ) -> TrialAgent:
            if trials:
                raise RuntimeError("one agent a test: make it once and start several conversations with it")
            composition = Composition(
                file.default.plugins if plugins is None else tuple(plugins),
                file.default.limits if limits is None else dict(limits),
                slack=slack or file.default.slack,
            )
            _check(composition, file, binding, request.config)
            trial = await _open(request, stack, binding, composition, state)
            trials.append(trial)
            return TrialAgent(trial)

        yield make
        for trial in trials:
            state.findings.extend(trial.findings())
            state.calls = [call_record(call) for call in trial.calls]
            state.requests = request_records(trial.requests)
            state.bodies = tuple(seen.body for seen in trial.requests)
            if _upstream(request.config) is not None and not state.findings:
                state.made = trial.recording_made(
                    recorded_at=request.config.getoption("--seatrial-recorded-at"),
                    contracts=state.contracts,
                )
        if not trials and not state.findings:
            state.findings.append(Finding(Cause.BROKEN, "the test made no agent: it says nothing about one"))
    unknown = [finding for finding in state.findings if finding.cause is not Cause.FAILED]
    if unknown:
        _, first = decide(tuple(unknown))
        assert first is not None
        told = f"{first.cause.verdict.value}: {first.reason}\n{first.detail}\n{first.cure}"
        state.told = True
        pytest.fail(told, pytrace=False)


@pytest_asyncio.fixture
async def run(agent: MakeAgent) -> Run:
    """Start a conversation with the agent of the default composition, which the first call makes."""
    made: list[AgentUnderTest] = []

    async def start(
        inputs: Input | Sequence[Input],
        *,
        history: History = (),
        on_progress: OnProgress | None = None,
    ) -> Conversation:
        if not made:
            told = () if isinstance(history, RecordedConversation) else history
            items = (*(inputs if isinstance(inputs, Sequence) else (inputs,)), *told)
            made.append(await agent(slack=any(isinstance(item, SlackInput) for item in items)))
        return await made[0].run(inputs, history=history, on_progress=on_progress)

    return start


def _binding(config: pytest.Config) -> tuple[BindingFile, Binding]:
    path = config.getoption("--seatrial-binding")
    if path is None:
        raise pytest.UsageError("give --seatrial-binding=PATH, the binding.yaml of the agent under test")
    file = read_binding_file(path)
    return file, file.load()


def _check(composition: Composition, file: BindingFile, binding: Binding, config: pytest.Config) -> None:
    """Raise TrialInvalid with every mistake in a composition."""
    named = _named_plugins(config)
    mistakes = [
        f"there is no plugin '{plugin}'{did_you_mean(plugin, file.plugins)}"
        for plugin in dict.fromkeys((*composition.plugins, *(named or ())))
        if plugin not in file.plugins
    ]
    absent = [] if named is None else [p for p in composition.plugins if p in file.plugins and p not in named]
    if absent:
        told = f"{', '.join(map(repr, absent))}, which the test's target does not name"
        mistakes.append(f"the test composes {told}. {_build_line(config, (*(named or ()), *absent))}")
    mistakes += binding.check_limits(composition.limits)
    if mistakes:
        raise TrialInvalid("; ".join(mistakes))


def _named_plugins(config: pytest.Config) -> tuple[str, ...] | None:
    """Return the plugins that the build has made ready for the test; None where no build runs it."""
    told: str | None = config.getoption("--seatrial-plugins")
    return None if told is None else tuple(name for name in told.split(",") if name)


def _build_line(config: pytest.Config, plugins: Sequence[str]) -> str:
    """Say which line of which BUILD file makes these plugins ready for the test."""
    words = f"[{', '.join(json.dumps(plugin) for plugin in plugins)}]"
    target, _, test = str(config.getoption("--seatrial-address")).partition("#")
    build = f"{target.partition(':')[0]}/BUILD".lstrip("/")
    if not test:
        return f"Add to its target in {build}: plugins={words}"
    return f'Add to the eval_tests in {build}: overrides={{"{test}": {{"plugins": {words}}}}}'


def _upstream(config: pytest.Config) -> Upstream | None:
    url, socket = config.getoption("--seatrial-upstream"), config.getoption("--seatrial-upstream-socket")
    if not url and socket is None:
        return None
    return Upstream(
        base_url=url or "http://upstream/v1", kind=config.getoption("--seatrial-upstream-kind"), socket=socket
    )


def recording_path(item: pytest.Item) -> Path:
    """Return where the recording of a test lies."""
    return item.path.with_name(f"{item.path.stem}.{item.name}.recording.json")


async def _open(
    request: pytest.FixtureRequest, stack: AsyncExitStack, binding: Binding, composition: Composition, state: Eval
) -> Trial:
    config, path = request.config, recording_path(request.node)
    upstream = _upstream(config)
    state.contracts = binding.contracts(composition)
    try:
        recording = load_recording(path) if path.exists() else None
    except RecordingBroken as error:
        if upstream is None:
            state.findings.append(Finding(Cause.BROKEN, str(error)))
            raise TrialBroken(str(error)) from error
        recording = None
    if recording is not None and upstream is None:
        holder = Holder(path.name, recording.contracts, cure="record the test again")
        state.findings.extend(contract_findings(state.contracts, [holder]))
    cache = config.getoption("--seatrial-cache") or Path(".seatrial-cache")
    settings = TrialSettings(
        binding=binding,
        composition=composition,
        stores=stack.enter_context(stores_for(binding, cache)),
        at=DEFAULT_INSTANT,
        calendar=Calendar(),
        snapshot=None,
        recording=recording,
        upstream=upstream,
        upstream_model=config.getoption("--seatrial-upstream-model"),
    )
    return await stack.enter_async_context(open_trial(settings))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whatever any phase of the test raised as a finding, and write the record when the test is over.

    An assertion of the test itself is *failed*, what its agent cannot have is *invalid*; everything else, making the
    agent ready and ending it too, is *broken*.
    """
    report = yield
    state = item.stash.get(_EVAL, None)
    if state is None:
        return report
    if call.excinfo is not None and not (report.when == "teardown" and state.told):
        state.findings.append(_raised(call.excinfo, report))
    if report.when == "teardown":
        _finish(item, state)
    return report


def _raised(raised: pytest.ExceptionInfo[BaseException], report: pytest.TestReport) -> Finding:
    if raised.errisinstance(TrialInvalid):
        return Finding(Cause.INVALID, str(raised.value))
    asserted = report.when == "call" and raised.errisinstance((AssertionError, pytest.fail.Exception))
    cause = Cause.FAILED if asserted else Cause.BROKEN
    reason = raised.exconly(tryshort=True).splitlines()[0]
    return Finding(cause, reason, detail=report.longreprtext)


def _finish(item: pytest.Item, state: Eval) -> None:
    item.ihook.pytest_seatrial_ended(known=state)
    proof, unsealed = read_seal_proof()
    address = item.config.getoption("--seatrial-address") or item.nodeid
    findings = (*state.findings, *(() if unsealed is None else (unsealed,)))
    record = trial_record(
        findings,
        address=address,
        case=item.nodeid,
        kind="eval_test",
        seal=proof,
        contracts=state.contracts,
        calls=state.calls,
        requests=state.requests,
    )
    out: Path | None = item.config.getoption("--seatrial-out")
    if out is None:
        return
    write_record(out / item.name, record)
    verdict = Verdict(record.verdict)
    if state.made is not None and verdict is Verdict.PASSED:
        secrets = {name: os.environ.get(name, "") for name in CREDENTIALS}
        try:
            write_recording(out / item.name / "recording.json", state.made, secrets=secrets)
        except RecordingWithheld as error:
            raise pytest.UsageError(str(error)) from error
    session_stash = item.session.stash
    session_stash[_WORST] = max(session_stash.get(_WORST, 0), verdict.exit_code)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End with the exit code of the worst verdict, where records are written."""
    if session.config.getoption("--seatrial-out") is not None and _WORST in session.stash:
        session.exitstatus = session.stash[_WORST]
