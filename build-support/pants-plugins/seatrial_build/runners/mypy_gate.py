"""Check packages with mypy as a gate, without its cache, and leave a record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from evidence import gate_arguments, leave_record, refuse_unsealed, seal_proof


def main() -> int:
    parser = gate_arguments("Check packages with mypy as a gate.")
    parser.add_argument("--config", required=True, help="the mypy configuration")
    parser.add_argument("--python-version", required=True)
    parser.add_argument("--root", action="append", default=[], help="a folder that modules are imported from")
    parser.add_argument("--package", action="append", required=True, help="a folder to check")
    options = parser.parse_args()
    proof = seal_proof()
    if proof is None:
        return refuse_unsealed(options)
    empty = [package for package in options.package if not any(Path(package).rglob("*.py"))]
    if empty:
        return leave_record(options, "broken", f"there are no Python files in {', '.join(empty)}", proof=proof)
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            f"--config-file={options.config}",
            f"--python-version={options.python_version}",
            # A cache is state that runs share: an entry that is wrong would outlive its cause.
            "--cache-dir=/dev/null",
            "--no-color-output",
            *options.package,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": os.pathsep.join(options.root)},
    )
    print(run.stdout, end="")
    print(run.stderr, end="", file=sys.stderr)
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    if run.returncode == 0:
        verdict, reason = "passed", ""
    elif run.returncode == 1 and errors:
        verdict = "failed"
        reason = errors[0] + (f" (and {len(errors) - 1} more)" if len(errors) > 1 else "")
    else:
        last = (run.stderr.strip() or run.stdout.strip() or "no output").splitlines()[-1]
        verdict, reason = "broken", f"mypy ended with {run.returncode}: {last}"
    code = leave_record(options, verdict, reason, proof=proof, errors=errors)
    (options.out / "junit.xml").write_text(_junit(options.kind, options.address, errors), encoding="utf-8")
    return code


def _junit(kind: str, address: str, errors: list[str]) -> str:
    inner = "".join(f"<failure message={quoteattr(error)}>{escape(error)}</failure>" for error in errors)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<testsuite name={quoteattr(kind)} tests="1" failures="{int(bool(errors))}" errors="0">\n'
        f"<testcase classname={quoteattr(kind)} name={quoteattr(address)}>{inner}</testcase>\n</testsuite>\n"
    )


if __name__ == "__main__":
    sys.exit(main())
