"""Run one pytest file as a gate: no shared state, no skipped test, a record at the end."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from evidence import gate_arguments, leave_record, refuse_unsealed, seal_proof

# Short, because the sockets of servers lie under it: their paths may have 107 bytes.
TEMPORARY = Path(".t").absolute()


class Witness:
    """A pytest plugin that remembers how each test ended."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.failed: list[tuple[str, str]] = []
        self.broken: list[tuple[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            # A test that does not run proves nothing, whatever its reason.
            self.broken.append((report.nodeid, f"was skipped: {_why_skipped(report)}"))
        elif report.failed and report.when == "call":
            self.failed.append((report.nodeid, _why(report)))
        elif report.failed:
            self.broken.append((report.nodeid, f"{report.when} failed: {_why(report)}"))
        elif report.when == "call":
            self.passed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append((report.nodeid, f"cannot be collected: {_last_line(str(report.longrepr))}"))
        elif report.skipped:
            self.broken.append((report.nodeid, "was skipped as a whole"))


def main() -> int:
    parser = gate_arguments("Run one pytest file as a gate.")
    parser.add_argument("file", help="the pytest file")
    options = parser.parse_args()
    proof = seal_proof()
    if proof is None:
        return refuse_unsealed(options)
    _settle_path()
    _settle_temporary_files()
    _settle_hypothesis()
    witness = Witness()
    status = pytest.main(_pytest_arguments(options.file), plugins=[witness])
    verdict, reason = _judge(status, witness)
    code = leave_record(
        options,
        verdict,
        reason,
        proof=proof,
        tests={"passed": len(witness.passed), "failed": len(witness.failed), "broken": len(witness.broken)},
    )
    (options.out / "junit.xml").write_text(_junit(options.kind, witness), encoding="utf-8")
    return code


def _pytest_arguments(file: str) -> list[str]:
    arguments = [
        file,
        "--quiet",
        "--color=no",
        "--strict-markers",
        "--rootdir=.",
        # No file of this machine or of the repository may say how a gate runs.
        *("-c", "/dev/null"),
        f"--basetemp={TEMPORARY}/pytest",
        "-p",
        "no:cacheprovider",
        "-o",
        "xfail_strict=true",
    ]
    if importlib.util.find_spec("pytest_asyncio"):
        arguments += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    return arguments


def _settle_temporary_files() -> None:
    """Keep temporary files in the sandbox, which goes away: a machine's own folder is shared by its users."""
    TEMPORARY.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(TEMPORARY)
    tempfile.tempdir = None


def _settle_path() -> None:
    """Let processes that a test starts in another folder import what the test imports."""
    path = os.environ.get("PYTHONPATH")
    if path:
        os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(folder) for folder in path.split(os.pathsep))


def _settle_hypothesis() -> None:
    """Make properties repeatable: the same examples each time, none remembered, none against the clock."""
    if importlib.util.find_spec("hypothesis") is None:
        return
    from hypothesis import settings

    settings.register_profile("gate", derandomize=True, database=None, deadline=None, print_blob=False)
    settings.load_profile("gate")


def _judge(status: int, witness: Witness) -> tuple[str, str]:
    if witness.broken:
        name, why = witness.broken[0]
        return "broken", f"{name} {why}"
    if status == pytest.ExitCode.TESTS_FAILED and witness.failed:
        name, why = witness.failed[0]
        others = len(witness.failed) - 1
        return "failed", f"{name}: {why}" + (f" (and {others} more)" if others else "")
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        return "broken", "the file holds no tests"
    if status != pytest.ExitCode.OK:
        return "broken", f"pytest ended with {int(status)} and no failed test"
    if not witness.passed:
        return "broken", "no test ran"
    return "passed", ""


def _why(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else _last_line(report.longreprtext)
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def _why_skipped(report: pytest.TestReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "no reason given"


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"


def _junit(kind: str, witness: Witness) -> str:
    cases = [
        *((name, "") for name in witness.passed),
        *((name, f"<failure message={quoteattr(why)}>{escape(why)}</failure>") for name, why in witness.failed),
        *((name, f"<error message={quoteattr(why)}>{escape(why)}</error>") for name, why in witness.broken),
    ]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<testsuite name={quoteattr(kind)} tests="{len(cases)}" failures="{len(witness.failed)}" '
        f'errors="{len(witness.broken)}">',
    ]
    for name, inner in cases:
        file, _, test = name.partition("::")
        lines.append(f"<testcase classname={quoteattr(file)} name={quoteattr(test or file)}>{inner}</testcase>")
    return "\n".join([*lines, "</testsuite>", ""])


if __name__ == "__main__":
    sys.exit(main())
