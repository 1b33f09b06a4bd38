"""Puts login and pages together for one app."""

from __future__ import annotations

from fastapi import APIRouter
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import CalendarPolicy, Clock
from bosun.dashboard.pages import Pages
from bosun.http.login import login_routes
from bosun.http.sessions import session_authentication
from bosun.ids import IdSource
from bosun.link_codes import LinkCodes
from bosun.log.reading import ConversationReader
from bosun.login.attempts import Attempts
from bosun.login.login import Login
from bosun.login.options import LoginOptions
from bosun.login.sessions import Sessions
from bosun.mailbox.intake import Intake
from bosun.mailbox.mailbox import Mailbox
from bosun.prices import Prices


def dashboard(
    options: LoginOptions,
    *,
    engine: AsyncEngine,
    redis: Redis,
    reader: ConversationReader,
    mailbox: Mailbox,
    intake: Intake,
    clock: Clock,
    ids: IdSource,
    calendar: CalendarPolicy,
    codes: LinkCodes | None,
    prices: Prices,
) -> APIRouter:
    """Return the routes of browsers: signing in and out, and the pages; with codes, the one that links, too."""
    sessions = Sessions(engine, clock=clock, ids=ids)
    login = Login(
        options, engine=engine, attempts=Attempts(redis, clock=clock), sessions=sessions, clock=clock, ids=ids
    )
    signed_in = session_authentication(options, sessions)
    pages = Pages(
        options,
        signed_in=signed_in,
        reader=reader,
        mailbox=mailbox,
        intake=intake,
        ids=ids,
        calendar=calendar,
        codes=codes,
        prices=prices,
    )
    router = APIRouter()
    router.include_router(login_routes(options, login=login, sessions=sessions, signed_in=signed_in))
    router.include_router(pages.router())
    return router
