"""What a gate or a case has come to, as the engine passes it on and tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pants.core.goals.test import ShowOutput, TestResult
from pants.engine.addresses import Address
from pants.engine.engine_aware import EngineAwareReturnType
from pants.engine.fs import EMPTY_FILE_DIGEST, CreateDigest, Digest, DigestContents, FileContent, RemovePrefix, Snapshot
from pants.engine.internals.session import RunId
from pants.engine.process import FallibleProcessResult
from pants.engine.rules import Get, collect_rules, rule
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.core.evidence import judge
from seatrial_build.core.junit import junit
from seatrial_build.core.summary import Entry, origin, verdict_line
from seatrial_build.core.verdicts import Judgement

_LEVELS = {"passed": LogLevel.INFO, "blocked": LogLevel.WARN}


@dataclass(frozen=True)
class Verdict(EngineAwareReturnType):
    """A verdict with where it came from. ``reports`` holds the JUnit report and the record, laid out as
    they are written below dist/test; ``output`` is what the process printed."""

    address: Address
    kind: str
    judgement: Judgement
    reports: Snapshot
    origin: str = ""
    blocked_by: tuple[str, ...] = ()
    output: str = ""
    unsealed_by_choice: bool = False
    lane: str = ""
    show: ShowOutput = ShowOutput.FAILED

    @property
    def entry(self) -> Entry:
        return Entry(
            address=self.address.spec,
            kind=self.kind,
            verdict=self.judgement.verdict,
            headline=self.judgement.headline,
            origin=self.origin,
            blocked_by=self.blocked_by,
            unsealed_by_choice=self.unsealed_by_choice,
            lane=self.lane,
        )

    def cacheable(self) -> bool:
        # A verdict is told in every run, also when nothing had to be done for it.
        return False

    def level(self) -> LogLevel:
        if self.unsealed_by_choice and self.judgement.passed:
            return LogLevel.WARN
        return _LEVELS.get(self.judgement.verdict, LogLevel.ERROR)

    def message(self) -> str:
        line = verdict_line(self.entry)
        shown = self.show == ShowOutput.ALL or (self.show == ShowOutput.FAILED and not self.judgement.passed)
        told = []
        if shown and self.output:
            # What a process prints ends with its cure.
            told.append(self.output.rstrip())
        elif self.judgement.cure and not self.judgement.passed:
            told.append(self.judgement.cure)
        return "\n".join([line, *told]) + ("\n" if told else "")

    def metadata(self) -> dict[str, Any]:
        entry = self.entry
        return {"seatrial": {**vars(entry), "blocked_by": list(entry.blocked_by)}}


@dataclass(frozen=True)
class GateVerdict(Verdict):
    """The verdict of a gate or a test."""


@dataclass(frozen=True)
class CaseVerdict(Verdict):
    """The verdict of a case."""


@dataclass(frozen=True)
class EvidenceRequest:
    """Ask what the process of a gate or a case has proved.

    ``origin`` is part of the question: two results with the same bytes are equal to the engine, which would
    answer for one that ran just now with where an older one came from.
    """

    address: Address
    kind: str
    result: FallibleProcessResult
    origin: str
    policy: str
    timeout: int
    key: str


@dataclass(frozen=True)
class Evidence:
    """What a process has proved. ``left`` is all that it left, ``reports`` what of it is written below dist/test."""

    judgement: Judgement
    left: Digest
    reports: Snapshot
    origin: str
    output: str


@rule(desc="Read what a process has proved", level=LogLevel.DEBUG)
async def read_evidence(request: EvidenceRequest) -> Evidence:
    result = request.result
    out = await Get(Digest, RemovePrefix(result.output_digest, places.OUT))
    contents = {file.path: file.content for file in await Get(DigestContents, Digest, out)}
    record = contents.get("record.json")
    judgement = judge(record, result.exit_code, seal_policy=request.policy, key=request.key, timeout=request.timeout)
    report = contents.get("junit.xml") if judgement.verdict in ("passed", "failed") else None
    reports = await Get(
        Snapshot,
        CreateDigest(
            report_files(request.address, record, report or junit(request.address.spec, request.kind, judgement))
        ),
    )
    output = "\n".join(
        text for text in (stream.decode(errors="replace").strip() for stream in (result.stdout, result.stderr)) if text
    )
    return Evidence(judgement, out, reports, request.origin, output)


def origin_of(result: FallibleProcessResult, run_id: RunId) -> str:
    """Say where a result came from, as seen from this run."""
    return origin(result.metadata.source(run_id).value, result.metadata.total_elapsed_ms)


def report_files(address: Address, record: bytes | None, report: bytes) -> list[FileContent]:
    """Lay out the reports of one verdict as they are written below dist/test."""
    files = [FileContent(f"reports/{address.path_safe_spec}.xml", report)]
    if record is not None:
        files.append(FileContent(f"{address.path_safe_spec}/record.json", record))
    return files


def test_result(verdict: Verdict) -> TestResult:
    """Hand a verdict to Pants' test goal: its exit code and its reports, without Pants' own words.

    Pants knows "succeeded" and "failed"; eight verdicts have lines of their own. So the result has no
    metadata (which drops Pants' summary line), and its log line is turned down on the instance, since
    the engine refuses a subclass.
    """
    result = TestResult(
        exit_code=verdict.judgement.exit_code,
        stdout="",
        stdout_digest=EMPTY_FILE_DIGEST,
        stderr="",
        stderr_digest=EMPTY_FILE_DIGEST,
        addresses=(verdict.address,),
        output_setting=ShowOutput.NONE,
        result_metadata=None,
        xml_results=verdict.reports,
    )
    object.__setattr__(result, "level", lambda: LogLevel.DEBUG)
    return result


def rules():
    return collect_rules()
