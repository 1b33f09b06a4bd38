"""One case in parts: its process again, in the sandbox that Pants made for it."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from runs import Pants, RunFailed

_SCRIPT = "__run.sh"
_MODULE = "-P -m seatrial.cases.run"
_REPEATS = 5


def parts_of(pants: Pants, case: str, sandboxes: Path) -> list[tuple[str, float]]:
    """Return the stages of a case's process and the seconds of each, the middle of several runs.

    `sandboxes` is an empty folder. Raises RunFailed when the process is not found or does not pass.
    """
    pants.test("--force", case, options=("--keep-sandboxes=always", f"--local-execution-root-dir={sandboxes}"))
    scripts = [file for file in sandboxes.glob(f"*/{_SCRIPT}") if _MODULE in file.read_text(encoding="utf-8")]
    if len(scripts) != 1:
        raise RunFailed(f"{len(scripts)} sandboxes of '{case}' were kept, where one was expected")
    script = scripts[0]
    sandbox = script.parent
    shutil.copyfile(Path(__file__).with_name("stages.py"), sandbox / "stages.py")
    text = script.read_text(encoding="utf-8")
    found = [_once(text, script) for _ in range(_REPEATS)]
    return [
        (stage, statistics.median(marks[number][1] for marks in found)) for number, (stage, _) in enumerate(found[0])
    ]


def _once(text: str, script: Path) -> list[tuple[str, float]]:
    shutil.rmtree(script.parent / "__out__", ignore_errors=True)
    script.write_text(text.replace(_MODULE, f"-P stages.py {time.monotonic()}"), encoding="utf-8")
    start = time.monotonic()
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, cwd=script.parent)
    whole = time.monotonic() - start
    if done.returncode != 0:
        raise RunFailed(f"the case ended with {done.returncode} in its kept sandbox:\n{done.stdout}{done.stderr}")
    marks: list[tuple[str, float]] = [
        (stage, seconds) for stage, seconds in json.loads((script.parent / "stages.json").read_text(encoding="utf-8"))
    ]
    return [*marks, ("interpreter and seal ended", whole - sum(seconds for _, seconds in marks))]
