"""The composition: the one place where the parts of Bosun meet.

What an app does is decided by its options alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bosun.accounts import DatabaseSnapshotSource
from bosun.background import TaskGroupRunner
from bosun.context.assembler import ContextAssembler
from bosun.contracts import contract_versions
from bosun.http.authentication import token_authentication
from bosun.http.conversations import conversation_routes
from bosun.http.health import health_routes
from bosun.http.refusals import install_refusals
from bosun.http.reporting import reporting_routes
from bosun.link_codes import LinkCodes
from bosun.log.forks import Forks
from bosun.log.overhearing import Overhearing
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.machine import SystemClock, SystemIds, SystemTimer
from bosun.mailbox.hearing import Hearing
from bosun.mailbox.intake import Intake
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.redis_queue import RedisStreamQueue
from bosun.mailbox.running import StopBell
from bosun.mailbox.titling import TitleHandover
from bosun.mailbox.worker import Worker
from bosun.model.client import ModelClient
from bosun.model.guardian import Guardian
from bosun.model.reply_policy import ReplyPolicy
from bosun.model.router import Router
from bosun.model.titles import write_title
from bosun.options import BosunOptions
from bosun.plugins import PluginHost, load_plugins
from bosun.prices import Prices
from bosun.steps import LoggedSteps, StepSink
from bosun.stores.postgres import create_engine, require_schema
from bosun.stores.redis import connect
from bosun.timer import Timer
from bosun.turn.compaction import Compactor
from bosun.turn.delivery import Delivery, WebDelivery
from bosun.turn.engine import TurnEngine
from bosun.turn.posting import PostedDelivery
from bosun.turn.routing import RoutedDelivery
from bosun.turn.thinking import Thinking
from bosun.turn.tool_calls import ToolCalls

if TYPE_CHECKING:
    from bosun.slack.egress import SlackEgress


def create_app(options: BosunOptions) -> FastAPI:
    """Compose an app.

    Connects to nothing; its lifespan does, and raises `SchemaMismatch` where the database is another's.

    Raises `PluginUnknown` for a plugin that does not exist, `ToolNameTaken` for plugins that do not fit together, and
    `ValueError` for profiles or prices that do not.
    An app is entered once: its lifespan closes what was made here.
    """
    contracts = contract_versions(options.plugins, slack=options.slack is not None)
    clock = options.clock or SystemClock()
    timer = options.timer or SystemTimer()
    ids = options.ids or SystemIds()
    steps = options.steps or LoggedSteps()
    engine = create_engine(options.postgres_url)
    redis = connect(options.redis_url)
    own_runner = TaskGroupRunner() if options.background is None else None
    background = options.background or own_runner
    assert background is not None
    queue = options.queue or RedisStreamQueue(redis, clock=clock, consumer=ids.nonce("bosun", "consumer"))

    log = ConversationLog(engine, clock=clock, ids=ids)
    reader = ConversationReader(engine)
    slack = _slack(options, timer, reader)
    actions = None if slack is None else slack.actions
    plugins = load_plugins(options.plugins, PluginHost(engine=engine, clock=clock, ids=ids, actions=actions))
    mailbox = Mailbox(redis, clock=clock, ids=ids, steps=steps, attempts=options.limits.attempts)
    model = ModelClient(options.model, timer=timer, steps=steps)
    assembler = ContextAssembler(
        options.snapshot_source or DatabaseSnapshotSource(engine),
        clock=clock,
        calendar=options.calendar,
        stale_after=options.stale_after,
        steps=steps,
        recalls=plugins,
    )
    tools = ToolCalls(
        plugins, log=log, reader=reader, guardian=Guardian(model), steps=steps, most=options.limits.tool_calls_per_turn
    )
    thinking = Thinking(
        log=log,
        reader=reader,
        assembler=assembler,
        model=model,
        router=Router(model, options.profiles),
        compactor=Compactor(model=model, log=log, steps=steps, window=options.limits.context_window_tokens),
        tools=tools,
        steps=steps,
        contracts=contracts,
    )
    turns = TurnEngine(
        log=log,
        reader=reader,
        thinking=thinking,
        tools=tools,
        delivery=RoutedDelivery(WebDelivery(log, steps), _elsewhere(slack, log, reader, steps)),
        clock=clock,
        timer=timer,
        limits=options.limits,
    )
    prices = Prices(options.prices, partial(_alias, options))
    bell = StopBell()
    overhearing = Overhearing(engine, clock=clock)
    hearing = Hearing(
        log=log,
        overhearing=overhearing,
        reader=reader,
        mailbox=mailbox,
        policy=None if slack is None else ReplyPolicy(model),
    )

    async def write(conversation_id: str, first_message: str) -> None:
        there = await reader.conversation(conversation_id)
        title = there.title if there is not None else None
        title = title or await write_title(model, log, conversation_id, first_message)
        if slack is not None:
            await slack.statuses.title(conversation_id, title)

    worker = Worker(
        queue=queue,
        mailbox=mailbox,
        log=log,
        reader=reader,
        titles=TitleHandover(reader, background, write, steps, redis),
        hearing=hearing,
        turns=turns,
        timer=timer,
        steps=steps,
        limits=options.limits,
        bell=bell,
        cross_actor=options.cross_actor,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as closing:
            closing.push_async_callback(engine.dispose)
            closing.push_async_callback(redis.aclose)
            closing.push_async_callback(model.close)
            if slack is not None:
                closing.callback(slack.close)
            await require_schema(engine)
            if own_runner is not None:
                await closing.enter_async_context(own_runner)
                closing.push_async_callback(own_runner.finish, timer, options.limits.drain_seconds)
            loops = await closing.enter_async_context(asyncio.TaskGroup())
            await worker.start(loops)
            closing.push_async_callback(worker.stop)
            yield

    app = FastAPI(title="Bosun", lifespan=lifespan, openapi_url=None)
    authenticate = token_authentication(engine)
    forks = Forks(engine, clock=clock, ids=ids)
    intake = Intake(
        log=log, forks=forks, mailbox=mailbox, queue=queue, clock=clock, ids=ids, bell=bell, overhearing=overhearing
    )
    both = options.login is not None and options.slack is not None
    codes = LinkCodes(engine, clock=clock, ids=ids) if both else None
    install_refusals(app)
    app.include_router(health_routes(engine, redis))
    app.include_router(conversation_routes(authenticate=authenticate, intake=intake))
    app.include_router(reporting_routes(authenticate=authenticate, reader=reader, mailbox=mailbox, prices=prices))
    if options.login is not None:
        from bosun.dashboard.composition import dashboard  # an app without a login loads nothing of it

        app.include_router(
            dashboard(
                options.login,
                engine=engine,
                redis=redis,
                reader=reader,
                mailbox=mailbox,
                intake=intake,
                clock=clock,
                ids=ids,
                calendar=options.calendar,
                codes=codes,
                prices=prices,
            )
        )
    if options.slack is not None and slack is not None:
        from bosun.slack.ingress import slack_ingress

        app.include_router(
            slack_ingress(
                options.slack,
                names=slack.names,
                words=slack.words,
                codes=codes,
                engine=engine,
                reader=reader,
                intake=intake,
                clock=clock,
                ids=ids,
            )
        )
    return app


def _alias(options: BosunOptions, role: str, profile: str | None) -> str:
    """Return the model that a part of Bosun asks for in a turn of this profile."""
    own = next((each.model for each in options.profiles if each.name == profile), None) if role == "agent" else None
    return own or options.model.alias(role)


def _slack(options: BosunOptions, timer: Timer, reader: ConversationReader) -> SlackEgress | None:
    if options.slack is None:
        return None
    from bosun.slack.egress import SlackEgress  # an app without Slack loads nothing of it

    return SlackEgress(options.slack, timer=timer, reader=reader)


def _elsewhere(
    slack: SlackEgress | None, log: ConversationLog, reader: ConversationReader, steps: StepSink
) -> Mapping[str, Delivery]:
    """Return the ways of words that leave otherwise than by the log, by the source of what they answer."""
    if slack is None:
        return {}
    posted = PostedDelivery(
        log, reader, steps, source="slack", posts=slack.posts, presence=slack.statuses, stopped=slack.stopped
    )
    return {"slack": posted}
