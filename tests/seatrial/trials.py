"""Trials of the invented agent: recorded over HTTP from a model that repeats what it hears, then replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from echo_model import echo_model
from invented_agent import InventedBinding

from seatrial.binding import Calendar, Composition
from seatrial.gateway.recording import Recording
from seatrial.gateway.upstream import Upstream
from seatrial.stores.embedded import StoreUrls
from seatrial.trial import Trial, TrialSettings, open_trial

Scenario = Callable[[Trial], Awaitable[Any]]

START = datetime(2030, 1, 15, 12, tzinfo=UTC)


def settings(way: str = "right", *, limits: Mapping[str, Any] | None = None, **changes: Any) -> TrialSettings:
    """Return the settings of a trial of the invented agent, which behaves in this way."""
    made = TrialSettings(
        binding=InventedBinding(way),
        composition=Composition(limits=limits or {}),
        stores=StoreUrls("", ""),
        at=START,
        calendar=Calendar(),
        snapshot=None,
        recording=None,
    )
    return replace(made, **changes)


def both(scenario: Scenario, way: str = "right", **options: Any) -> tuple[Any, Recording]:
    """Record and replay; return what the scenario saw, which is the same both times, and the recording."""

    async def run() -> tuple[Any, Recording]:
        async with echo_model() as url:
            recorded = settings(way, upstream=Upstream(base_url=url, kind="invented"), **options)
            async with open_trial(recorded) as trial:
                seen = await scenario(trial)
                assert trial.findings() == ()
                made = trial.recording_made(recorded_at="2030-01-15T12:00:00Z", contracts={})
        async with open_trial(settings(way, recording=made, **options)) as trial:
            assert await scenario(trial) == seen
            assert trial.findings() == ()
            assert {request.source for request in trial.requests} == {"recorded"}
        return seen, made

    return asyncio.run(run())
