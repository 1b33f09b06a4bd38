"""End every run that had verdicts with one table."""

from __future__ import annotations

import sys
from typing import Any

from pants.engine.rules import collect_rules, rule
from pants.engine.streaming_workunit_handler import (
    WorkunitsCallback,
    WorkunitsCallbackFactory,
    WorkunitsCallbackFactoryRequest,
)
from pants.engine.unions import UnionRule

from seatrial_build.core.places import COMMAND
from seatrial_build.core.summary import Entry, table


class Summary(WorkunitsCallback):
    """Collects the verdicts of one run from the engine's work units. Never shared between runs."""

    def __init__(self) -> None:
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
        if finished:
            sys.stderr.write(table(self._entries.values(), command=COMMAND))


class SummaryFactoryRequest(WorkunitsCallbackFactoryRequest):
    """Asks for a summary of the run that starts."""


@rule
async def make_summary(_: SummaryFactoryRequest) -> WorkunitsCallbackFactory:
    return WorkunitsCallbackFactory(Summary)


def rules():
    return [*collect_rules(), UnionRule(WorkunitsCallbackFactoryRequest, SummaryFactoryRequest)]
