"""End every run that had verdicts with one table, and with a list of them for programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from pants.base.build_environment import get_buildroot
from pants.core.util_rules.distdir import DistDir
from pants.engine.rules import collect_rules, rule
from pants.engine.streaming_workunit_handler import (
    WorkunitsCallback,
    WorkunitsCallbackFactory,
    WorkunitsCallbackFactoryRequest,
)
from pants.engine.unions import UnionRule

from seatrial_build.core.places import COMMAND
from seatrial_build.core.summary import Entry, as_json, table


class Summary(WorkunitsCallback):
    """Collects the verdicts of one run from the engine's work units. Never shared between runs."""

    def __init__(self, verdicts: Path) -> None:
        self._verdicts = verdicts
        self._entries: dict[str, Entry] = {}

    @property
    def can_finish_async(self) -> bool:
        # Otherwise the table is printed after the client has gone.
        return False

    def __call__(self, *, completed_workunits: tuple[dict[str, Any], ...], finished: bool, **_: Any) -> None:
        for workunit in completed_workunits:
            told = workunit.get("metadata", {}).get("seatrial")
            if told:
                entry = Entry(**{**told, "blocked_by": tuple(told["blocked_by"])})
                self._entries[entry.address] = entry
        if finished and self._entries:
            sys.stderr.write(table(self._entries.values(), command=COMMAND))
            try:
                _write(self._verdicts, as_json(self._entries.values()))
            except OSError as error:
                sys.stderr.write(f"'{self._verdicts}' was not written: {error}\n")


def _write(path: Path, text: str) -> None:
    """Write a whole file, or leave the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.write_text(text, encoding="utf-8")
    half.replace(path)


class SummaryFactoryRequest(WorkunitsCallbackFactoryRequest):
    """Asks for a summary of the run that starts."""


@rule
async def make_summary(_: SummaryFactoryRequest, distdir: DistDir) -> WorkunitsCallbackFactory:
    verdicts = Path(get_buildroot(), distdir.relpath, "test", "verdicts.json")
    return WorkunitsCallbackFactory(lambda: Summary(verdicts))


def rules():
    return [*collect_rules(), UnionRule(WorkunitsCallbackFactoryRequest, SummaryFactoryRequest)]
