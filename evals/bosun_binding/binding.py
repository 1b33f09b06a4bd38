"""Bosun's binding: make the app with the harness's seams, send through its routes, read its reports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bosun.app import create_app
from bosun.clock import CalendarPolicy
from bosun.contracts import contract_versions
from bosun.limits import Limits
from bosun.log.recorded import RecordedInvalid, read_recorded
from bosun.model.options import ModelOptions
from bosun.options import BosunOptions
from bosun.plugins import PluginHost
from bosun.stores.migrations import migrate, migrations_fingerprint
from bosun.stores.postgres import create_engine
from bosun_binding.decisions import deciding
from bosun_binding.driver import ACCOUNT, BosunAgent
from bosun_binding.earlier_tools import EarlierTools
from bosun_binding.seams import FixtureSnapshotSource, HarnessIds, HarnessQueue, HarnessSteps
from bosun_binding.setup import check_setup
from bosun_binding.slack import on_slack, slack_options
from seatrial.binding import Agent, Composition, World
from seatrial.clock import TrialClock, VirtualTimer
from seatrial.headers import HeaderNames
from seatrial.history import RecordedConversation
from seatrial.ids import TrialIds
from seatrial.serving import serve


class _SnapshotData(BaseModel):
    """The ``snapshot`` part of an account fixture."""

    model_config = ConfigDict(extra="forbid", strict=True)

    display_name: str
    plan: str
    projects: list[str]
    updated_ago_minutes: int = Field(ge=0)


class BosunBinding:
    """How to make and drive Bosun."""

    header_names = HeaderNames(role="x-bosun-role", conversation="x-bosun-conversation")
    model_aliases = ("bosun",)
    needs_stores = True

    def contracts(self, composition: Composition) -> Mapping[str, int]:
        """Return the versions of Bosun's public contracts."""
        return contract_versions(composition.plugins, slack=composition.slack)

    def check_snapshot(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return every mistake in an account fixture's data."""
        try:
            _SnapshotData.model_validate(dict(data))
        except ValidationError as error:
            return tuple(f"'{'.'.join(str(part) for part in e['loc'])}': {e['msg']}" for e in error.errors())
        return ()

    def check_limits(self, limits: Mapping[str, Any]) -> tuple[str, ...]:
        """Return every mistake in a case's limits."""
        try:
            _limits(limits)
        except (ValidationError, TypeError, ValueError) as error:
            return (f"'agent.limits': {error}",)
        return ()

    def check_setup(self, kind: str, data: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        """Return every mistake in one piece of setup data."""
        return check_setup(kind, data, composition.plugins)

    def check_tool_call(self, name: str, input: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        """Return every mistake in a call of a tool that history says Bosun made."""
        return EarlierTools(composition.plugins, _host_of_nothing()).check(name, input)

    def check_recorded(self, recorded: RecordedConversation) -> tuple[str, ...]:
        """Return every mistake in a recorded conversation."""
        try:
            read_recorded(recorded.data)
        except RecordedInvalid as error:
            return error.mistakes
        return ()

    def database_fingerprint(self) -> str:
        """Return the digest of Bosun's migrations."""
        return migrations_fingerprint()

    def prepare_database(self, postgres_url: str) -> None:
        """Migrate an empty database."""
        migrate(postgres_url)

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        """Serve Bosun on loopback, with one worker, so that nothing runs beside anything else."""
        clock, ids = world.clock, HarnessIds(world.ids)
        app = create_app(
            BosunOptions(
                postgres_url=world.postgres_url,
                redis_url=world.redis_url,
                model=ModelOptions(base_url=world.model_url),
                limits=_limits({"workers": 1, **world.composition.limits}),
                plugins=world.composition.plugins,
                calendar=CalendarPolicy(zone=world.calendar.zone, week_starts=world.calendar.week_starts),
                clock=clock,
                timer=world.timer,
                ids=ids,
                queue=HarnessQueue(world.queue),
                background=world.background,
                steps=HarnessSteps(world),
                snapshot_source=None if world.snapshot is None else FixtureSnapshotSource(world.snapshot, clock),
                slack=None if world.slack is None else slack_options(world.slack, ACCOUNT),
            )
        )
        engine = create_engine(world.postgres_url)
        try:
            async with serve(app, lifespan=True) as url:
                host = PluginHost(engine=engine, clock=clock, ids=ids)
                tools = EarlierTools(world.composition.plugins, host)
                async with (
                    deciding(world) as decisions,
                    on_slack(world, host, tools) as slack,
                    BosunAgent(url, host, tools, slack, decisions) as agent,
                ):
                    yield agent
        finally:
            await engine.dispose()


def _host_of_nothing() -> PluginHost:
    """Return a host whose plugins can be looked at and not used: nothing connects before it is asked something."""
    clock = TrialClock(datetime(2030, 1, 15, tzinfo=UTC), VirtualTimer())
    return PluginHost(engine=create_engine("postgresql://"), clock=clock, ids=HarnessIds(TrialIds("")))


def _limits(values: Mapping[str, Any]) -> Limits:
    """Return the limits with these values. Raises for a name or a type that Bosun's limits do not have."""
    known = Limits.__dataclass_fields__
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    return TypeAdapter(Limits).validate_python(dict(values))
