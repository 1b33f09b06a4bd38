"""Run one test function in this process: ``python -m seatrial.pytest_run FILE --function=NAME …``.

The build starts it in a sandbox, behind the seal, with the repository's layout as its working folder.
Whatever happens, it leaves a record, and its exit code is the verdict's.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from seatrial.busy_core import busy_core
from seatrial.gateway.recording import RecordingWithheld, write_recording
from seatrial.nearest import did_you_mean
from seatrial.pytest_plugin import CREDENTIALS, Eval
from seatrial.report.record import TrialRecord, write_record
from seatrial.report.text import render
from seatrial.report.trial import COMMAND, trial_record
from seatrial.seal_proof import read_seal_proof
from seatrial.verdict import Cause, Finding, Verdict, decide

TEMPORARY = Path(".t/pytest").absolute()
"""Short, because sockets may lie under it: their paths may have 107 bytes."""


class Witness:
    """A pytest plugin that sees that exactly one function is run, and remembers what is known about it."""

    def __init__(self, function: str) -> None:
        self._function = function
        self.eval: Eval | None = None
        self.findings: list[Finding] = []
        self.printed: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._invalid(f"{report.nodeid} cannot be loaded: {report.longrepr}")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        alone = [item for item in items if isinstance(item, pytest.Function) and item.cls is None]
        found = [item for item in alone if item.originalname == self._function]
        if self.findings:
            pass  # The file could not be loaded, so there is nothing in it.
        elif not found:
            self._invalid(_absent(self._function, sorted({item.originalname for item in alone})))
        elif len(found) > 1 or found[0].name != self._function:
            self._invalid(f"'{self._function}' is parametrized; each eval is a function of its own, with its recording")
        items[:] = [] if self.findings else found

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.printed += [f"{title}:\n{text}" for title, text in report.sections if text.strip()]
        if report.skipped:
            # A test that does not run proves nothing, whatever its reason.
            self.findings.append(Finding(Cause.BROKEN, f"the test was skipped: {report.longrepr}"))
        elif report.failed and report.when == "setup":
            self.findings.append(Finding(Cause.BROKEN, "the test could not be made ready", detail=report.longreprtext))

    def pytest_seatrial_ended(self, known: Eval) -> None:
        self.eval = known

    def _invalid(self, why: str) -> None:
        self.findings.append(Finding(Cause.INVALID, why))


def _absent(function: str, held: Sequence[str]) -> str:
    if not held:
        return f"there is no function '{function}' at the file's top; each eval is one: async def test_…(run)"
    return f"there is no function '{function}'{did_you_mean(function, held)}; there are: {', '.join(held)}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the test that the arguments name and return the verdict's exit code."""
    options = _parser().parse_args(argv)
    proof, unsealed = read_seal_proof()
    if unsealed is not None:
        known, witness = Eval(findings=[unsealed]), None
    else:
        with busy_core(options.beside_busy_core):
            known, witness = _repeat(options)
    if known.made is not None and not known.findings:
        known.findings += _keep(options.out, known)
    record: TrialRecord = trial_record(
        tuple(dict.fromkeys(known.findings)),
        address=options.address or options.file,
        case=f"{options.file}::{options.function}",
        kind="eval_test",
        seal=proof,
        contracts=known.contracts,
        calls=known.calls,
        requests=known.requests,
        repeats=options.repeat,
        command=options.command,
    )
    write_record(options.out, record)
    verdict = Verdict(record.verdict)
    if witness is not None and verdict is not Verdict.PASSED:
        print("\n".join(witness.printed))
    print(render(record))
    return verdict.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m seatrial.pytest_run", description="Run one test function.")
    parser.add_argument("file", help="the test file")
    parser.add_argument("--function", required=True, help="the name of the test function")
    parser.add_argument("--binding", required=True, help="the binding.yaml of the agent under test")
    parser.add_argument("--plugins", help="all plugins that the test may compose, with commas between them")
    parser.add_argument("--out", type=Path, required=True, help="folder for record.json and junit.xml")
    parser.add_argument("--cache", required=True, help="folder that keeps database templates")
    parser.add_argument("--address", default="", help="the build's address of the test")
    parser.add_argument("--command", default=COMMAND, help="what starts the build for this test")
    parser.add_argument("--repeat", type=int, default=1, help="run the test so often and compare")
    parser.add_argument("--beside-busy-core", action="store_true", help="keep a core busy meanwhile")
    parser.add_argument("--interactive", action="store_true", help="show what the test prints, and let it ask")
    parser.add_argument("--record", action="store_true", help="ask the upstream for what has no recorded answer")
    parser.add_argument("--upstream-socket", default="", help="Unix socket of the upstream")
    parser.add_argument("--upstream-model", default="", help="the upstream's name of the model")
    parser.add_argument("--upstream-kind", default="openai-compatible", help="what the recording calls the upstream")
    parser.add_argument("--recorded-at", default="", help="the instant to write into the recording (ISO 8601)")
    return parser


def _repeat(options: argparse.Namespace) -> tuple[Eval, Witness]:
    """Run the test as often as it is wanted, until a run differs from the first."""
    if options.record and not (options.upstream_socket and options.recorded_at):
        told = Finding(Cause.BROKEN, "--record needs --upstream-socket and --recorded-at")
        return Eval(findings=[told]), Witness(options.function)
    first, witness = _run(options)
    for number in range(2, options.repeat + 1):
        if _told_by_itself(first):
            break
        again, witness = _run(options)
        different = difference(first, again)
        if different:
            again.findings.append(Finding(Cause.BROKEN, f"repeat {number} {different}"))
            return again, witness
    return first, witness


def _told_by_itself(known: Eval) -> bool:
    """Whether another run could say nothing else: the file cannot be run, or nothing is recorded."""
    return any(finding.cause in (Cause.INVALID, Cause.UNRECORDED) for finding in known.findings)


def difference(first: Eval, again: Eval) -> str:
    """Say how a repeat differs from the first run, or nothing."""
    was, now = decide(tuple(first.findings))[0], decide(tuple(again.findings))[0]
    if was is not now:
        return f"ended {now.value}, the first run {was.value}"
    if first.bodies != again.bodies:
        return "did not repeat the first run's requests byte for byte"
    return ""


def _run(options: argparse.Namespace) -> tuple[Eval, Witness]:
    witness = Witness(options.function)
    status = pytest.main(_pytest_arguments(options), plugins=[witness])
    known = witness.eval or Eval()
    known.findings += witness.findings
    if witness.eval is None and not known.findings:
        why = f"the test asked for no agent: it says nothing about one (pytest ended with {int(status)})"
        known.findings.append(Finding(Cause.BROKEN, why))
    return known, witness


def _pytest_arguments(options: argparse.Namespace) -> list[str]:
    # No plugin that is merely installed may say how an eval runs; to look for them takes longer than to run it.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    TEMPORARY.parent.mkdir(exist_ok=True)
    arguments = [
        options.file,
        # No file of this machine or of the repository may say how an eval runs.
        *("-c", "/dev/null"),
        "--rootdir=.",
        "--strict-markers",
        f"--basetemp={TEMPORARY}",
        *("-p", "no:cacheprovider"),
        # It would look through all of memory at each end, a third of a run, for warnings that nobody is shown.
        *("-p", "no:unraisableexception"),
        *("-p", "pytest_asyncio.plugin"),
        *("-p", "seatrial.pytest_plugin"),
        *("-o", "asyncio_mode=auto"),
        *("-o", "asyncio_default_fixture_loop_scope=function"),
        *("-o", "xfail_strict=true"),
        f"--seatrial-binding={options.binding}",
        f"--seatrial-cache={options.cache}",
        f"--seatrial-address={options.address}",
    ]
    # What is found is told by the record, and not a second time in pytest's words.
    arguments += ["--capture=no", "--quiet", "--disable-warnings"] if options.interactive else ["-p", "no:terminal"]
    if options.plugins is not None:
        arguments.append(f"--seatrial-plugins={options.plugins}")
    if options.record:
        arguments += [
            f"--seatrial-upstream-socket={options.upstream_socket}",
            f"--seatrial-upstream-kind={options.upstream_kind}",
            f"--seatrial-upstream-model={options.upstream_model}",
            f"--seatrial-recorded-at={options.recorded_at}",
        ]
    return arguments


def _keep(out: Path, known: Eval) -> list[Finding]:
    """Leave the recording of a test that passed with the model."""
    assert known.made is not None
    out.mkdir(parents=True, exist_ok=True)
    # The build keeps the key to itself and searches by itself; this is for who records by hand.
    secrets = {name: os.environ.get(name, "") for name in CREDENTIALS}
    try:
        write_recording(out / "recording.json", known.made, secrets=secrets)
    except RecordingWithheld as error:
        return [Finding(Cause.BROKEN, str(error))]
    return []


def _leave(code: int) -> NoReturn:
    """End at once: everything is written by now."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main())
