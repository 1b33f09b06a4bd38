"""Open a trial: serve the gateway and the agent, and stop both at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from seatrial.binding import OnSlack, World
from seatrial.clock import TrialClock, VirtualTimer
from seatrial.gateway.server import Gateway
from seatrial.ids import TrialIds
from seatrial.serving import serve
from seatrial.standins.slack import WebApi, Workspace
from seatrial.steps import StepLog
from seatrial.trial.settings import TrialSettings
from seatrial.trial.slack import SlackSide
from seatrial.trial.trial import Trial
from seatrial.work import BackgroundWork, WorkQueue


@asynccontextmanager
async def open_trial(settings: TrialSettings) -> AsyncIterator[Trial]:
    """Serve the gateway, the agent and the stand-ins that it needs on loopback, and stop them at the end."""
    timer = VirtualTimer()
    clock = TrialClock(settings.at, timer)
    steps = StepLog()
    queue = WorkQueue(timer)
    background = BackgroundWork()
    gateway = Gateway(
        header_names=settings.binding.header_names,
        recording=settings.recording,
        upstream=settings.upstream,
        model_names=dict.fromkeys(settings.binding.model_aliases, name) if (name := settings.upstream_model) else {},
    )
    slack = WebApi(Workspace(clock, TrialIds("slack"))) if settings.composition.slack else None
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(serve(gateway.app, lifespan=False))
        slack_url = "" if slack is None else await stack.enter_async_context(serve(slack.app, lifespan=False))
        world = World(
            postgres_url=settings.stores.postgres,
            redis_url=settings.stores.redis,
            model_url=f"{model}/v1",
            clock=clock,
            timer=timer,
            calendar=settings.calendar,
            ids=TrialIds("seatrial"),
            queue=queue,
            background=background,
            on_step=steps.add,
            composition=settings.composition,
            snapshot=settings.snapshot,
            slack=None if slack is None else slack.access(slack_url),
        )
        async with settings.binding.running(world) as agent:
            try:
                yield Trial(
                    agent,
                    gateway,
                    binding=settings.binding,
                    composition=settings.composition,
                    queue=queue,
                    background=background,
                    timer=timer,
                    clock=clock,
                    steps=steps,
                    recording=settings.upstream is not None,
                    idle_seconds=settings.idle_seconds,
                    slack=SlackSide(slack, agent) if slack is not None and isinstance(agent, OnSlack) else None,
                )
            finally:
                timer.run_out()
