"""`./pants record CASES`: ask a real model, and keep its answers beside the cases."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pants.base.build_environment import get_buildroot
from pants.core.util_rules.distdir import DistDir
from pants.engine.console import Console
from pants.engine.fs import Digest, DigestContents, Workspace
from pants.engine.goal import Goal, GoalSubsystem
from pants.engine.process import InteractiveProcess, InteractiveProcessResult
from pants.engine.rules import Effect, Get, MultiGet, collect_rules, goal_rule
from pants.engine.target import Targets
from pants.option.option_types import BoolOption, IntOption

from seatrial_build.core import recording_report as report
from seatrial_build.core.drift import drift
from seatrial_build.core.embedded_model import ModelServerFailed, prepare_command
from seatrial_build.core.estimate import estimate, recorded, turns_in, worded
from seatrial_build.core.forwarder import Forwarder
from seatrial_build.core.keeping import objection, write_together
from seatrial_build.core.model_service import UpstreamUnusable
from seatrial_build.core.places import COMMAND
from seatrial_build.core.references import recording_of
from seatrial_build.core.spending import Account, Budget, Ledger
from seatrial_build.core.verdicts import EXIT_CODES
from seatrial_build.rules.attempt_recording import Check, CheckRequest, RecordingAttempt, RecordingRequest
from seatrial_build.rules.case_kinds import KINDS, AnyCase, CaseFieldSet
from seatrial_build.rules.judge_case import GatesRequest, Passage
from seatrial_build.rules.reach_model import KEY, MODEL, URL, WEIGHTS, ModelChoice, ModelRequest, reaching
from seatrial_build.rules.read_yaml import read_yaml
from seatrial_build.subsystem import SeatrialSubsystem


class RecordSubsystem(GoalSubsystem):
    name = "record"
    help = (
        "Run cases with a real model and keep its answers beside them.\n\n"
        "Answers that are recorded already are used again, so only what changed is asked. A recording is "
        f"written when the case passes with the model and again, sealed, without it. {URL}, {KEY} and {MODEL} in the "
        "environment say which OpenAI-compatible service to ask. Without an URL the embedded model is asked, a small "
        f"one that runs on this machine; what it needs is fetched once, after a yes. {WEIGHTS} names other weights "
        "for it (the path of a GGUF file)."
    )

    yes = BoolOption(default=False, help="The yes to fetching what the embedded model needs, for scripts.")
    check = BoolOption(
        default=False,
        help="Write nothing beside the cases: ask the model everything again, and report how its words differ from "
        "what is recorded. The exit code is 0 when nothing differs.",
    )
    budget_requests = IntOption(default=None, help="Stop after so many requests to the model.")
    budget_tokens = IntOption(
        default=None,
        help="Stop when so many tokens were spent, in and out together. The answer that exceeds it is still awaited.",
    )
    timeout = IntOption(default=1800, help="Seconds that one case may take while it asks the model.")


class Record(Goal):
    subsystem_cls = RecordSubsystem
    environment_behavior = Goal.EnvironmentBehavior.LOCAL_ONLY


@goal_rule
async def record_cases(
    targets: Targets,
    record: RecordSubsystem,
    seatrial: SeatrialSubsystem,
    console: Console,
    workspace: Workspace,
    distdir: DistDir,
) -> Record:
    cases = [kind.create(target) for target in targets for kind in KINDS if kind.is_applicable(target)]
    choice = await Get(ModelChoice, ModelRequest())
    refused = _refusal(cases, choice, seatrial)
    if refused:
        console.print_stderr(refused)
        return Record(exit_code=1)
    if choice.embedded:
        ready = await Effect(InteractiveProcessResult, InteractiveProcess, _preparing(choice, record, cases))
        if ready.exit_code != 0:
            return Record(exit_code=1)
    # What is written below changes inputs of this very run; from here on the engine must not start it again.
    workspace.side_effected()
    passages = await MultiGet(Get(Passage, GatesRequest(case)) for case in cases)
    console.print_stderr(_expected(cases, choice, record.check))
    desk = _Desk(console, workspace, distdir, choice, Path(get_buildroot()))
    ledger = Ledger(Budget(record.budget_requests, record.budget_tokens))
    code, waiting = 0, []
    try:
        with reaching(choice, ledger) as forwarder:
            for case, passage in zip(cases, passages):
                if passage.hindrance is not None:
                    judgement = passage.hindrance.judgement
                    code = max(code, judgement.exit_code)
                    why = report.judged(judgement, "before it was run")
                    console.print_stderr(report.not_kept(case.address.spec, why, details=[judgement.cure]))
                    continue
                if ledger.reached:
                    waiting.append(case.address.spec)
                    continue
                account, started = ledger.open(case.address.spec), time.monotonic()
                request = _request(case, choice, forwarder, record.timeout)
                if record.check:
                    check = await Get(Check, CheckRequest(request))
                    left = await Get(DigestContents, Digest, check.left)
                    ended = desk.compare(case, check, [file.content for file in left], account, started, ledger.reached)
                else:
                    attempt = await Get(RecordingAttempt, RecordingRequest, request)
                    left = await Get(DigestContents, Digest, attempt.left)
                    ended = desk.keep(case, attempt, [file.content for file in left], account, started, ledger.reached)
                code = max(code, ended.code)
                if ended.again:
                    waiting.append(case.address.spec)
    except ModelServerFailed as error:
        console.print_stderr(str(error))
        return Record(exit_code=1)
    if waiting:
        console.print_stderr(report.going_on(ledger.reached, waiting, check=record.check))
        code = max(code, EXIT_CODES["unrecorded"])
    return Record(exit_code=code)


def _refusal(cases: Sequence[AnyCase], choice: ModelChoice, seatrial: SeatrialSubsystem) -> str:
    """Say why nothing can be recorded, before anything is fetched or run; empty when it can."""
    if not cases:
        return f"`record` found no case among what was named. Run: {COMMAND} record evals::"
    unsealed = [case.address.spec for case in cases if (case.seal.value or seatrial.seal) == "off"]
    if unsealed:
        return f"Only what a sealed run repeats is kept, and the seal is off for {', '.join(unsealed)}."
    try:
        choice.service()
    except UpstreamUnusable as error:
        return f"{URL} cannot be used: {error}. Run: {URL}=http://127.0.0.1:8080/v1 {COMMAND} record CASES"
    return ""


def _preparing(choice: ModelChoice, record: RecordSubsystem, cases: Sequence[AnyCase]) -> InteractiveProcess:
    """What asks the person, on the person's own terminal, which the build's daemon does not have."""
    option = "--check " if record.check else ""
    said_yes = f"{COMMAND} record --yes {option}{' '.join(shlex.quote(case.address.spec) for case in cases)}"
    return InteractiveProcess(
        prepare_command(choice.python, weights=choice.weights, yes=record.yes, said_yes=said_yes),
        env=choice.environment,
        run_in_workspace=True,
    )


def _expected(cases: Sequence[AnyCase], choice: ModelChoice, check: bool) -> str:
    top = Path(get_buildroot())
    near = {path.parent for path in (top / case.path for case in cases)}
    known = [recorded(path.read_bytes()) for folder in sorted(near) for path in sorted(folder.glob(recording_of("*")))]
    roles = tuple(dict.fromkeys(role for one in known if one is not None for role in one.roles))
    estimates = [
        estimate(
            case.address.spec,
            _turns(case, (top / case.path).read_bytes()),
            _content(top / case.recording),
            roles,
            embedded=choice.embedded,
        )
        for case in cases
    ]
    whom = "the embedded model" if choice.embedded else choice.url
    return worded(estimates, whom=whom, check=check)


def _turns(case: AnyCase, content: bytes) -> int | None:
    """Count the turns that a case sends, as it is written. What a function does is known when it has run."""
    return turns_in(read_yaml(content)) if isinstance(case, CaseFieldSet) else None


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _request(case: AnyCase, choice: ModelChoice, forwarder: Forwarder, timeout: int) -> RecordingRequest:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    model = "" if choice.embedded else choice.model
    return RecordingRequest(case, str(forwarder.server_address), choice.kind, model, now, timeout)


@dataclass(frozen=True)
class _End:
    """How a case ended: its exit code, and whether it has to be run again because the budget cut it short."""

    code: int
    again: bool = False


@dataclass(frozen=True)
class _Desk:
    """Where what came of each case is kept, left or told."""

    console: Console
    workspace: Workspace
    distdir: DistDir
    choice: ModelChoice
    top: Path

    def keep(
        self,
        case: AnyCase,
        attempt: RecordingAttempt,
        left: list[bytes],
        account: Account,
        started: float,
        reached: str,
    ) -> _End:
        """Keep a recording that passed, or leave what there is to look at."""
        spec, seconds = case.address.spec, time.monotonic() - started
        made = [content for content in (attempt.recording, attempt.case) if content is not None]
        against = objection([*made, *left, attempt.output.encode()], self.choice.secrets)
        if against:
            why = f"{against}. Nothing of the attempt was written"
            self.console.print_stderr(report.not_kept(spec, why, account, seconds))
            return _End(EXIT_CODES["broken"])
        if attempt.judgement.passed:
            assert attempt.recording is not None
            path = case.recording
            files = {self.top / path: attempt.recording}
            files.update({} if attempt.case is None else {self.top / case.path: attempt.case})
            changed = write_together(files)
            self.console.print_stdout(
                report.kept(path, changed=bool(changed), exchanges=attempt.exchanges, account=account, seconds=seconds)
            )
            return _End(0)
        if reached:
            self.console.print_stderr(report.not_kept(spec, "budget reached", account, seconds))
            return _End(EXIT_CODES["unrecorded"], again=True)
        why = report.judged(attempt.judgement, attempt.stage)
        details = [attempt.output or attempt.judgement.cure, *self._leave(case, attempt.left)]
        self.console.print_stderr(report.not_kept(spec, why, account, seconds, details))
        return _End(attempt.judgement.exit_code)

    def compare(
        self, case: AnyCase, check: Check, left: list[bytes], account: Account, started: float, reached: str
    ) -> _End:
        """Tell how what the model says today differs from what is recorded, and leave it to look at."""
        spec, seconds = case.address.spec, time.monotonic() - started
        against = objection([*left, check.output.encode()], self.choice.secrets)
        if against:
            why = f"{against}. Nothing of the attempt was written"
            self.console.print_stderr(report.unchecked(spec, why, account, seconds))
            return _End(EXIT_CODES["broken"])
        there = _content(self.top / case.recording)
        if there is None:
            why = f"it has no recording. Run: {COMMAND} record {shlex.quote(spec)}"
            self.console.print_stderr(report.unchecked(spec, why, account, seconds))
            return _End(EXIT_CODES["unrecorded"])
        if reached and check.asked is None:
            self.console.print_stderr(report.unchecked(spec, "budget reached", account, seconds))
            return _End(EXIT_CODES["unrecorded"], again=True)
        found = drift(check.before, check.after, there, check.asked)
        told = report.checked(spec, found.changes, account, seconds)
        print_it = self.console.print_stderr if found.changes else self.console.print_stdout
        print_it("\n".join([told, *self._leave(case, check.left)]))
        return _End(found.exit_code)

    def _leave(self, case: AnyCase, left: Digest) -> Iterator[str]:
        place = str(self.distdir.relpath / "record" / case.address.path_safe_spec)
        self.workspace.write_digest(left, path_prefix=place, clear_paths=[place])
        yield f"What the model's run left is in {place}; nothing beside the case was changed."


def rules():
    return collect_rules()
