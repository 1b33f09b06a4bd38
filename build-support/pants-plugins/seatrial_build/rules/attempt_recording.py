"""Try to record one case: run it with the model service, then replay what came of it.

The second run is the ordinary sealed one, with the new files in place of the old. Only what passes
there may be kept, so nobody commits a recording that the next run does not accept.

Or check one: run it with the model service as if it had no recording, beside the run that replays it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pants.engine.fs import EMPTY_DIGEST, CreateDigest, Digest, DigestContents, FileContent, MergeDigests, PathGlobs
from pants.engine.process import FallibleProcessResult, Process
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.util.logging import LogLevel

from seatrial_build.core.verdicts import Judgement
from seatrial_build.rules.case_kinds import AnyCase, CaseFieldSet
from seatrial_build.rules.prepare_case import Attempt, CaseProcess, CaseProcessRequest
from seatrial_build.rules.verdict import Evidence, EvidenceRequest

RECORDING, CASE = "recording.json", "case.yaml"
"""What a recording run leaves beside its record when the case passed. A case in YAML says in words of its own for which
contracts it was recorded; for an eval in Python its recording alone says so."""

RECORD = "record.json"

WITH_MODEL, REPLAYED = "with the model", "when it was replayed, sealed"
"""The two runs, as they are told."""


@dataclass(frozen=True)
class RecordingRequest:
    """Ask for a recording of a case whose gates have passed.

    ``kind`` and ``model`` are the service's, ``recorded_at`` is an ISO 8601 time, ``timeout`` in seconds.
    """

    case: AnyCase
    socket: str
    kind: str
    model: str
    recorded_at: str
    timeout: int

    @property
    def attempt(self) -> Attempt:
        """How the run with the model differs from an ordinary one."""
        arguments = (
            "--record",
            f"--upstream-socket={self.socket}",
            f"--upstream-kind={self.kind}",
            f"--recorded-at={self.recorded_at}",
            *((f"--upstream-model={self.model}",) if self.model else ()),
        )
        return Attempt(arguments, (self.socket,), self.timeout)


@dataclass(frozen=True)
class RecordingAttempt:
    """What came of it; ``stage`` is the run that was judged.

    ``recording`` is set when the run with the model passed, and ``case`` where its file gets new words. Whether they
    may be kept says the judgement, which is the replay's where there was one. ``left`` is all that the run with the
    model left.
    """

    judgement: Judgement
    stage: str
    output: str = ""
    recording: bytes | None = None
    case: bytes | None = None
    left: Digest = EMPTY_DIGEST

    @property
    def exchanges(self) -> int:
        """The number of exchanges in the recording."""
        if self.recording is None:
            return 0
        return len(json.loads(self.recording).get("exchanges", ()))


@dataclass(frozen=True)
class CheckRequest:
    """Ask what the model says today to all that a recorded case asks it."""

    request: RecordingRequest


@dataclass(frozen=True)
class Check:
    """The records of both runs; ``asked`` is the recording that today's run would have made, None when it failed.

    ``left`` is all that today's run left, ``output`` what it printed.
    """

    before: bytes | None
    after: bytes | None
    asked: bytes | None
    left: Digest
    output: str


# Before the rules that use them: the engine looks for requests in what it has read so far.


async def _run(case: AnyCase, attempt: Attempt | None, replaced: Digest | None = None) -> Evidence:
    prepared = await Get(CaseProcess, CaseProcessRequest(case, replaced=replaced, attempt=attempt))
    result = await Get(FallibleProcessResult, Process, prepared.process.process)
    return await Get(
        Evidence,
        EvidenceRequest(
            case.address, case.kind, result, "", prepared.policy, prepared.timeout, key=prepared.process.key
        ),
    )


async def _files(left: Digest) -> dict[str, bytes]:
    return {file.path: file.content for file in await Get(DigestContents, Digest, left)}


@rule(desc="Record a case", level=LogLevel.DEBUG)
async def attempt_recording(request: RecordingRequest) -> RecordingAttempt:
    case = request.case
    asked = await _run(case, request.attempt)
    files = await _files(asked.left)
    recording, words = files.get(RECORDING), files.get(CASE)
    if not asked.judgement.passed:
        return RecordingAttempt(asked.judgement, WITH_MODEL, asked.output, left=asked.left)
    if recording is None or (words is None and isinstance(case, CaseFieldSet)):
        judgement = Judgement("broken", f"the recording run passed and left no {RECORDING} or no {CASE}")
        return RecordingAttempt(judgement, WITH_MODEL, asked.output, left=asked.left)
    made = [FileContent(case.recording, recording)]
    made += [] if words is None else [FileContent(case.path, words)]
    new, as_it_is = await MultiGet(
        Get(Digest, CreateDigest(made)), Get(Digest, PathGlobs([case.path] if words is None else []))
    )
    seen = await _run(case, None, await Get(Digest, MergeDigests([new, as_it_is])))
    return RecordingAttempt(seen.judgement, REPLAYED, seen.output, recording, words, asked.left)


@rule(desc="Check a recording", level=LogLevel.DEBUG)
async def check_recording(request: CheckRequest) -> Check:
    case = request.request.case
    # The case alone: what has no recording is asked.
    alone = await Get(Digest, PathGlobs([case.path]))
    replayed = await _run(case, None)
    asked = await _run(case, request.request.attempt, alone)
    before, after = await _files(replayed.left), await _files(asked.left)
    return Check(before.get(RECORD), after.get(RECORD), after.get(RECORDING), asked.left, asked.output)


def rules():
    return collect_rules()
