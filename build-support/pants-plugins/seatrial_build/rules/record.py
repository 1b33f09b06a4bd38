"""`./pants record CASES`: ask a real model, and keep its answers beside the cases."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from pants.base.build_environment import get_buildroot
from pants.core.util_rules.distdir import DistDir
from pants.engine.console import Console
from pants.engine.env_vars import EnvironmentVars, EnvironmentVarsRequest
from pants.engine.fs import Workspace
from pants.engine.goal import Goal, GoalSubsystem
from pants.engine.rules import Get, MultiGet, collect_rules, goal_rule
from pants.engine.streaming_workunit_handler import (
    thread_locals_get_for_current_thread,
    thread_locals_set_for_current_thread,
)
from pants.engine.target import Targets
from pants.option.option_types import IntOption

from seatrial_build.core.forwarder import Forwarder, ModelService, UpstreamUnusable
from seatrial_build.core.keeping import holds_secret, write_together
from seatrial_build.core.places import COMMAND
from seatrial_build.core.references import recording_of
from seatrial_build.core.verdicts import Judgement
from seatrial_build.rules.attempt_recording import RecordingAttempt, RecordingRequest
from seatrial_build.rules.judge_case import GatesRequest, Passage
from seatrial_build.rules.prepare_case import CaseFieldSet
from seatrial_build.subsystem import SeatrialSubsystem

logger = logging.getLogger(__name__)

URL, KEY, MODEL = "SEATRIAL_MODEL_URL", "SEATRIAL_MODEL_KEY", "SEATRIAL_MODEL"

USAGE = f"""\
`record` asks a real model, and none is set. Set, in the environment:
  {URL}    base URL of an OpenAI-compatible service, for example http://127.0.0.1:8080/v1
  {KEY}    its key, where it wants one; it stays out of sandboxes, logs and recordings
  {MODEL}        its name of the model, where it wants one
Run: {URL}=… {COMMAND} record CASES"""


class RecordSubsystem(GoalSubsystem):
    name = "record"
    help = (
        "Run cases with a real model and keep its answers beside them.\n\n"
        "Answers that are recorded already are used again, so only what changed is asked. A recording is "
        "written when the case passes with the model and again, sealed, without it. "
        f"{URL}, {KEY} and {MODEL} in the environment say whom to ask."
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
    environment = await Get(EnvironmentVars, EnvironmentVarsRequest([URL, KEY, MODEL, "SSL_CERT_FILE"]))
    cases = [CaseFieldSet.create(target) for target in targets if CaseFieldSet.is_applicable(target)]
    try:
        service = _service(environment)
    except UpstreamUnusable as error:
        console.print_stderr(str(error))
        return Record(exit_code=1)
    if not cases:
        console.print_stderr(f"`record` found no case among what was named. Run: {COMMAND} record evals::")
        return Record(exit_code=1)
    unsealed = [case.address.spec for case in cases if (case.seal.value or seatrial.seal) == "off"]
    if unsealed:
        console.print_stderr(f"Only what a sealed run repeats is kept, and the seal is off for {', '.join(unsealed)}.")
        return Record(exit_code=1)
    # What is written below changes inputs of this very run; from here on the engine must not start it again.
    workspace.side_effected()
    top, code = Path(get_buildroot()), 0
    passages = await MultiGet(Get(Passage, GatesRequest(case)) for case in cases)
    with _forwarding(service) as forwarder:
        for case, passage in zip(cases, passages):
            if passage.hindrance is not None:
                code = max(code, passage.hindrance.judgement.exit_code)
                console.print_stderr(_explain(case, passage.hindrance.judgement, "before it was run"))
                continue
            before = forwarder.tally.answered
            attempt = await Get(
                RecordingAttempt,
                RecordingRequest(
                    case,
                    socket=str(forwarder.server_address),
                    model=service.model,
                    recorded_at=datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z"),
                    timeout=record.timeout,
                ),
            )
            asked = forwarder.tally.answered - before
            code = max(code, attempt.judgement.exit_code)
            made = [content for content in (attempt.recording, attempt.case) if content is not None]
            if holds_secret(made, service.key):
                code = max(code, 14)
                console.print_stderr(f"{case.address} not recorded: the recording would hold the value of {KEY}.")
            elif attempt.judgement.passed:
                console.print_stdout(_keep(top, case, attempt, asked))
            else:
                place = _leave(workspace, distdir, case, attempt)
                console.print_stderr(_explain(case, attempt.judgement, attempt.stage, attempt.output, place))
    return Record(exit_code=code)


def _service(environment: EnvironmentVars) -> ModelService:
    if not environment.get(URL):
        raise UpstreamUnusable(USAGE)
    return ModelService(
        environment[URL], environment.get(KEY, ""), environment.get(MODEL, ""), environment.get("SSL_CERT_FILE")
    )


@contextmanager
def _forwarding(service: ModelService) -> Iterator[Forwarder]:
    """Listen on a socket in a folder of this user's own; its name is short, as socket names have to be."""
    thread_locals = thread_locals_get_for_current_thread()
    with (
        tempfile.TemporaryDirectory(prefix="rec-") as folder,
        Forwarder(
            os.path.join(folder, "model"),
            service,
            tell=logger.info,
            enter_thread=lambda: thread_locals_set_for_current_thread(thread_locals),
        ) as forwarder,
    ):
        yield forwarder


def _keep(top: Path, case: CaseFieldSet, attempt: RecordingAttempt, asked: int) -> str:
    assert attempt.recording is not None and attempt.case is not None
    path = recording_of(case.path)
    changed = write_together({top / path: attempt.recording, top / case.path: attempt.case})
    kept = max(0, attempt.exchanges - asked)
    word = "recorded" if changed else "unchanged"
    return f"{word} {path} ({attempt.exchanges} exchanges, {asked} asked, {kept} kept)"


def _leave(workspace: Workspace, distdir: DistDir, case: CaseFieldSet, attempt: RecordingAttempt) -> str:
    if attempt.left is None:
        return ""
    place = str(distdir.relpath / "record" / case.address.path_safe_spec)
    workspace.write_digest(attempt.left, path_prefix=place)
    return place


def _explain(case: CaseFieldSet, judgement: Judgement, stage: str, output: str = "", place: str = "") -> str:
    told = [f"{case.address} not recorded: {judgement.verdict} {stage}: {judgement.headline}"]
    if output or judgement.cure:
        told.append(output or judgement.cure)
    if place:
        told.append(f"What the attempt left is in {place}; nothing beside the case was changed.")
    return "\n".join(told)


def rules():
    return collect_rules()
