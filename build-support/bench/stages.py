"""Run a case as its own process does, and tell when each of its stages was reached.

`parts.py` starts this file in place of the case's module, in the case's sandbox and behind its seal:
`stages.py STARTED CASE …`, where STARTED is the monotonic time at which the whole was started.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

REACHED = time.monotonic()


def main() -> int:
    """Put times around the functions that a case goes through, run it, and leave `stages.json`."""
    started = float(sys.argv.pop(1))
    marks = [("seal and interpreter", REACHED - started)]
    last = REACHED

    def reached(stage: str) -> None:
        nonlocal last
        now = time.monotonic()
        marks.append((stage, now - last))
        last = now

    run: Any = importlib.import_module("seatrial.cases.run")
    attempt: Any = importlib.import_module("seatrial.cases.attempt")
    binding = next(word.partition("=")[2] for word in sys.argv if word.startswith("--binding="))
    run.read_binding_file(Path(binding)).load()
    reached("imports")
    stores_for, open_trial = run.stores_for, attempt.open_trial

    @contextlib.contextmanager
    def timed_stores(*arguments: Any) -> Any:
        reached("case, fixtures and recording read")
        with stores_for(*arguments) as stores:
            reached("stores started")
            yield stores
            reached("record of the attempt made")
        reached("stores stopped")

    @contextlib.asynccontextmanager
    async def timed_trial(*arguments: Any) -> Any:
        async with open_trial(*arguments) as trial:
            reached("gateway and app started")
            yield trial
            reached("setup, history and turns")
        reached("app stopped")

    run.stores_for, attempt.open_trial = timed_stores, timed_trial
    code: int = run.main()
    reached("verdict and record written")
    Path("stages.json").write_text(json.dumps(marks), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
