"""Run one case in this process: ``python -m seatrial.cases.run CASE.yaml …``.

The build starts it in a sandbox, behind the seal, with the repository's layout as its working folder.
Whatever happens, it leaves a record, and its exit code is the verdict's.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from seatrial.binding import Binding, BindingError, read_binding_file
from seatrial.busy_core import busy_core
from seatrial.cases.attempt import Attempt, attempt_case
from seatrial.cases.contracts import Holder, contract_findings, fixture_holder, with_contracts
from seatrial.cases.document import InvalidFile
from seatrial.cases.load import Case, load_case
from seatrial.gateway.recording import Recording, RecordingBroken, RecordingWithheld, load_recording, write_recording
from seatrial.gateway.upstream import Upstream
from seatrial.report.record import TrialRecord, write_record
from seatrial.report.text import render
from seatrial.report.trial import COMMAND, record_again, trial_record
from seatrial.seal_proof import read_seal_proof
from seatrial.stores.embedded import stores_for
from seatrial.verdict import Cause, Finding, Verdict, decide

_CREDENTIALS = ("SEATRIAL_MODEL_KEY",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the case that the arguments name and return the verdict's exit code."""
    options = _parser().parse_args(argv)
    proof, unsealed = read_seal_proof()
    attempt: Attempt | None = None
    contracts: Mapping[str, int] = {}
    if unsealed is not None:
        findings: tuple[Finding, ...] = (unsealed,)
    else:
        try:
            with busy_core(options.beside_busy_core):
                contracts, attempt, findings = _run(options)
        except InvalidFile as error:
            findings = tuple(Finding(Cause.INVALID, str(mistake)) for mistake in error.mistakes)
        except Exception as error:
            findings = (_unexpected(error),)
    record = _record(options, proof, contracts, attempt, findings)
    write_record(options.out, record)
    print(render(record))
    return Verdict(record.verdict).exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m seatrial.cases.run", description="Run one case.")
    parser.add_argument("case", type=Path, help="the case's YAML file")
    parser.add_argument("--binding", type=Path, required=True, help="the binding.yaml of the agent under test")
    parser.add_argument("--out", type=Path, required=True, help="folder for record.json and junit.xml")
    parser.add_argument("--cache", type=Path, required=True, help="folder that keeps database templates")
    parser.add_argument("--address", default="", help="the build's address of the case")
    parser.add_argument("--command", default=COMMAND, help="what starts the build for this case")
    parser.add_argument("--repeat", type=int, default=1, help="run the case so often and compare")
    parser.add_argument("--beside-busy-core", action="store_true", help="keep a core busy meanwhile")
    parser.add_argument("--record", action="store_true", help="ask the upstream for what has no recorded answer")
    parser.add_argument("--upstream-socket", type=Path, help="Unix socket of the upstream")
    parser.add_argument("--upstream-model", default="", help="the upstream's name of the model")
    parser.add_argument("--upstream-kind", default="openai-compatible", help="what the recording calls the upstream")
    parser.add_argument("--recorded-at", default="", help="the instant to write into the recording (ISO 8601)")
    return parser


def _run(options: argparse.Namespace) -> tuple[Mapping[str, int], Attempt | None, tuple[Finding, ...]]:
    try:
        binding_file = read_binding_file(options.binding)
        binding = binding_file.load()
    except BindingError as error:
        return {}, None, (Finding(Cause.BROKEN, str(error)),)
    case = load_case(options.case, binding_file, binding)
    contracts = binding.contracts(case.composition)
    if options.record:
        return (contracts, *_record_case(options, case, binding, contracts))
    try:
        recording = load_recording(case.recording_path) if case.recording_path.exists() else None
    except RecordingBroken as error:
        return contracts, None, (Finding(Cause.BROKEN, str(error), cure=_record_command(options)),)
    stale = _contract_findings(options, case, recording, contracts)
    if stale:
        return contracts, None, stale
    first: Attempt | None = None
    for number in range(1, max(1, options.repeat) + 1):
        attempt = _attempt(options, case, binding, contracts, recording)
        first = first or attempt
        different = _difference(first, attempt)
        if different:
            return contracts, attempt, (*attempt.findings, Finding(Cause.BROKEN, f"repeat {number} {different}"))
        if recording is None and attempt.findings:
            break
    assert first is not None
    return contracts, first, first.findings


def _difference(first: Attempt, again: Attempt) -> str:
    """Say how a repeat differs from the first run, or nothing."""
    if decide(first.findings)[0] is not decide(again.findings)[0]:
        return f"ended {decide(again.findings)[0].value}, the first run {decide(first.findings)[0].value}"
    if first.bodies != again.bodies:
        return "did not repeat the first run's requests byte for byte"
    return ""


def _attempt(
    options: argparse.Namespace,
    case: Case,
    binding: Binding,
    contracts: Mapping[str, int],
    recording: Recording | None,
    **record_mode: Any,
) -> Attempt:
    with stores_for(binding, options.cache) as stores:
        return asyncio.run(attempt_case(case, binding, stores, recording=recording, contracts=contracts, **record_mode))


def _record_case(
    options: argparse.Namespace, case: Case, binding: Binding, contracts: Mapping[str, int]
) -> tuple[Attempt | None, tuple[Finding, ...]]:
    """Run with the upstream behind the gateway; write the recording and the case beside the record when
    everything held. The build replays both, sealed, before it puts them into the repository."""
    try:
        kept = load_recording(case.recording_path) if case.recording_path.exists() else None
    except RecordingBroken as error:
        print(f"the recording there is broken and nothing of it is kept: {error}")
        kept = None
    stale = _fixture_findings(case, contracts)
    if stale:
        return None, stale
    if options.upstream_socket is None or not options.recorded_at:
        return None, (Finding(Cause.BROKEN, "--record needs --upstream-socket and --recorded-at"),)
    upstream = Upstream(base_url="http://upstream/v1", kind=options.upstream_kind, socket=options.upstream_socket)
    attempt = _attempt(
        options,
        case,
        binding,
        contracts,
        kept,
        upstream=upstream,
        upstream_model=options.upstream_model,
        recorded_at=options.recorded_at,
    )
    if attempt.made is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        # The build keeps the key to itself and searches by itself; this is for who records by hand.
        secrets = {name: os.environ.get(name, "") for name in _CREDENTIALS}
        try:
            write_recording(options.out / "recording.json", attempt.made, secrets=secrets)
        except RecordingWithheld as error:
            return attempt, (*attempt.findings, Finding(Cause.BROKEN, str(error)))
        text = case.path.read_bytes().decode("utf-8")
        (options.out / "case.yaml").write_bytes(with_contracts(text, contracts).encode("utf-8"))
    return attempt, attempt.findings


def _fixture_findings(case: Case, contracts: Mapping[str, int]) -> tuple[Finding, ...]:
    return contract_findings(contracts, [fixture_holder(*item) for item in case.fixture_contracts.items()])


def _contract_findings(
    options: argparse.Namespace, case: Case, recording: Recording | None, contracts: Mapping[str, int]
) -> tuple[Finding, ...]:
    found = _fixture_findings(case, contracts)
    if recording is None:
        return found
    cure = _record_command(options)
    holders = [
        Holder(case.path.as_posix(), case.words.contracts, cure),
        Holder(case.recording_path.as_posix(), recording.contracts, cure),
    ]
    return (*found, *contract_findings(contracts, holders))


def _record_command(options: argparse.Namespace) -> str:
    return record_again(options.command, options.address or options.case.as_posix())


def _unexpected(error: Exception) -> Finding:
    text = "".join(traceback.format_exception(error, limit=-4))
    return Finding(Cause.BROKEN, f"{type(error).__name__}: {error}", detail=text)


def _record(
    options: argparse.Namespace,
    proof: Mapping[str, Any],
    contracts: Mapping[str, int],
    attempt: Attempt | None,
    findings: tuple[Finding, ...],
) -> TrialRecord:
    return trial_record(
        findings,
        address=options.address or options.case.as_posix(),
        case=options.case.as_posix(),
        kind="eval_case",
        seal=proof,
        contracts=contracts,
        calls=() if attempt is None else attempt.calls,
        requests=() if attempt is None else attempt.requests,
        repeats=options.repeat,
        command=options.command,
    )


def _leave(code: int) -> NoReturn:
    """End at once: everything is written by now, and to take a thousand modules down would cost a sixth of a case."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main())
