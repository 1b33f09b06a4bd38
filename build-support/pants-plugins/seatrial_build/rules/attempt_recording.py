"""Try to record one case: run it with the model service, then replay what came of it.

The second run is the ordinary sealed one, with the new files in place of the old. Only what passes
there may be kept, so nobody commits a recording that the next run does not accept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pants.engine.fs import CreateDigest, Digest, DigestContents, FileContent
from pants.engine.process import FallibleProcessResult, Process
from pants.engine.rules import Get, collect_rules, rule
from pants.util.logging import LogLevel

from seatrial_build.core.references import recording_of
from seatrial_build.core.verdicts import Judgement
from seatrial_build.rules.judge_case import KIND
from seatrial_build.rules.prepare_case import Attempt, CaseFieldSet, CaseProcess, CaseProcessRequest
from seatrial_build.rules.verdict import Evidence, EvidenceRequest

RECORDING, CASE = "recording.json", "case.yaml"
"""What a recording run leaves beside its record when the case passed."""

WITH_MODEL, REPLAYED = "with the model", "when it was replayed, sealed"
"""The two runs, as they are told."""


@dataclass(frozen=True)
class RecordingRequest:
    """Ask for a recording of a case whose gates have passed.

    ``recorded_at`` is an ISO 8601 time, ``timeout`` in seconds.
    """

    case: CaseFieldSet
    socket: str
    model: str
    recorded_at: str
    timeout: int


@dataclass(frozen=True)
class RecordingAttempt:
    """What came of it; ``stage`` is the run that was judged.

    ``recording`` and ``case`` are set when the run with the model passed. Whether they may be kept says the
    judgement, which is the replay's where there was one. ``left`` is all that the run with the model left.
    """

    judgement: Judgement
    stage: str
    output: str = ""
    recording: bytes | None = None
    case: bytes | None = None
    left: Digest | None = None

    @property
    def exchanges(self) -> int:
        """The number of exchanges in the recording."""
        if self.recording is None:
            return 0
        return len(json.loads(self.recording).get("exchanges", ()))


@rule(desc="Record a case", level=LogLevel.DEBUG)
async def attempt_recording(request: RecordingRequest) -> RecordingAttempt:
    case = request.case
    attempt = Attempt(
        (
            "--record",
            f"--upstream-socket={request.socket}",
            f"--recorded-at={request.recorded_at}",
            *((f"--upstream-model={request.model}",) if request.model else ()),
        ),
        (request.socket,),
        request.timeout,
    )
    prepared = await Get(CaseProcess, CaseProcessRequest(case, attempt=attempt))
    result = await Get(FallibleProcessResult, Process, prepared.process.process)
    asked = await Get(Evidence, EvidenceRequest(case.address, KIND, result, "", prepared.policy, prepared.timeout))
    files = {file.path: file.content for file in await Get(DigestContents, Digest, asked.left)}
    recording, words = files.get(RECORDING), files.get(CASE)
    if not asked.judgement.passed:
        return RecordingAttempt(asked.judgement, WITH_MODEL, asked.output, left=asked.left)
    if recording is None or words is None:
        judgement = Judgement("broken", f"the recording run passed and left no {RECORDING} or no {CASE}")
        return RecordingAttempt(judgement, WITH_MODEL, asked.output, left=asked.left)
    replaced = await Get(
        Digest, CreateDigest([FileContent(recording_of(case.path), recording), FileContent(case.path, words)])
    )
    ordinary = await Get(CaseProcess, CaseProcessRequest(case, replaced=replaced))
    replay = await Get(FallibleProcessResult, Process, ordinary.process.process)
    seen = await Get(Evidence, EvidenceRequest(case.address, KIND, replay, "", ordinary.policy, ordinary.timeout))
    return RecordingAttempt(seen.judgement, REPLAYED, seen.output, recording, words, asked.left)


def rules():
    return collect_rules()
