"""The routes as the app composes them, on real stores, with three actors. No worker runs here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

import httpx
from conftest import CountedIds, HandClock, KeptSteps
from fastapi import FastAPI
from redis.asyncio import Redis
from slack_ingress import SLACK, KeptWords, UnknownNames
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import CalendarPolicy
from bosun.dashboard.composition import dashboard
from bosun.http.authentication import token_authentication
from bosun.http.conversations import conversation_routes
from bosun.http.health import health_routes
from bosun.http.refusals import install_refusals
from bosun.http.reporting import reporting_routes
from bosun.identity import SCOPES, Actor, create_token
from bosun.link_codes import LinkCodes
from bosun.log.forks import Forks
from bosun.log.overhearing import Overhearing
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.login.options import LoginOptions
from bosun.mailbox.intake import Intake
from bosun.mailbox.mailbox import Mailbox
from bosun.mailbox.queue import Delivery, Nudge
from bosun.mailbox.running import StopBell
from bosun.prices import Price, Prices
from bosun.slack.ingress import slack_ingress
from bosun.stores.tables import conversations

PRICES = (Price(model="agent", currency="USD", input=Decimal(2), output=Decimal(8), as_of=date(2026, 12, 1)),)


@dataclass
class KeptNudges:
    """A queue whose nudges nobody receives."""

    nudges: list[Nudge] = field(default_factory=list)

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Keep the nudge."""
        self.nudges.append(nudge)

    async def receive(self) -> Delivery:
        """Nobody is meant to."""
        raise AssertionError("no worker runs here")

    async def done(self, delivery: Delivery) -> None:
        """Nobody is meant to."""
        raise AssertionError("no worker runs here")


@dataclass
class Web:
    """The routes, and what is behind them."""

    client: httpx.AsyncClient
    queue: KeptNudges
    mailbox: Mailbox
    engine: AsyncEngine
    tokens: dict[str, str]
    app: FastAPI
    log: ConversationLog
    words: KeptWords

    async def post(
        self, path: str, body: object = None, *, actor: str = "morgan", content: bytes | None = None
    ) -> httpx.Response:
        """Send a body as an actor."""
        headers = {"authorization": f"Bearer {self.tokens[actor]}"}
        if content is not None:
            return await self.client.post(path, content=content, headers=headers)
        return await self.client.post(path, json=body, headers=headers)

    async def get(self, path: str, *, actor: str = "morgan") -> httpx.Response:
        """Read as an actor."""
        return await self.client.get(path, headers={"authorization": f"Bearer {self.tokens[actor]}"})

    async def is_untouched(self) -> bool:
        """Return whether nothing was stored and nobody was nudged."""
        async with self.engine.connect() as connection:
            count = (await connection.execute(select(func.count()).select_from(conversations))).scalar_one()
        return count == 0 and await self.mailbox.with_work() == () and self.queue.nudges == []


@asynccontextmanager
async def open_web(
    engine: AsyncEngine,
    redis: Redis,
    clock: HandClock,
    *,
    tokens: dict[str, str] | None = None,
    login: LoginOptions | None = None,
) -> AsyncIterator[Web]:
    """Compose the routes for morgan, eve, and a reader without the right to write."""
    queue, ids = KeptNudges(), CountedIds()
    log, reader = ConversationLog(engine, clock=clock, ids=ids), ConversationReader(engine)
    mailbox = Mailbox(redis, clock=clock, ids=ids, steps=KeptSteps(), attempts=3)
    app = FastAPI(openapi_url=None)
    install_refusals(app)
    prices = Prices(PRICES, lambda role, profile: role)
    authenticate = token_authentication(engine)
    forks = Forks(engine, clock=clock, ids=ids)
    intake = Intake(
        log=log,
        forks=forks,
        mailbox=mailbox,
        queue=queue,
        clock=clock,
        ids=ids,
        bell=StopBell(),
        overhearing=Overhearing(engine, clock=clock),
    )
    app.include_router(health_routes(engine, redis))
    app.include_router(conversation_routes(authenticate=authenticate, intake=intake))
    app.include_router(reporting_routes(authenticate=authenticate, reader=reader, mailbox=mailbox, prices=prices))
    words, codes = KeptWords(), LinkCodes(engine, clock=clock, ids=ids) if login is not None else None
    app.include_router(
        slack_ingress(
            SLACK, names=UnknownNames(), words=words, codes=codes, engine=engine, reader=reader, intake=intake,
            clock=clock, ids=ids,
        )
    )  # fmt: skip
    if login is not None:
        app.include_router(
            dashboard(
                login, engine=engine, redis=redis, reader=reader, mailbox=mailbox, intake=intake, clock=clock, ids=ids,
                calendar=CalendarPolicy(), codes=codes, prices=prices,
            )
        )  # fmt: skip
    known = tokens if tokens is not None else await make_tokens(engine, clock)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        yield Web(client, queue, mailbox, engine, known, app, log, words)


async def make_tokens(engine: AsyncEngine, clock: HandClock) -> dict[str, str]:
    """Give each actor a token."""
    tokens, ids = {}, CountedIds()
    for name, scopes in {"morgan": SCOPES, "eve": SCOPES, "reader": ("conversations:read",)}.items():
        actor = Actor(name, name.title(), "standard")
        tokens[name] = await create_token(engine, actor=actor, scopes=scopes, ids=ids, clock=clock)
    return tokens


async def begin(web: Web, key: str = "k1", actor: str = "morgan") -> str:
    """Begin a conversation and return its id."""
    answer = await web.post("/api/conversations", {"idempotencyKey": key, "message": "Hello"}, actor=actor)
    assert answer.status_code == 202
    return str(answer.json()["conversationId"])
