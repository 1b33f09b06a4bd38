"""The way in from Slack, put together for one app. An app without Slack does not import it."""

from __future__ import annotations

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import Clock
from bosun.http.slack import slack_routes
from bosun.ids import IdSource
from bosun.link_codes import LinkCodes
from bosun.log.reading import ConversationReader
from bosun.mailbox.intake import Intake
from bosun.slack.intake import SlackIntake
from bosun.slack.linking import Linking, Words
from bosun.slack.options import SlackOptions
from bosun.slack.people import Names, SlackPeople
from bosun.slack.signature import SlackSignature


def slack_ingress(
    options: SlackOptions,
    *,
    names: Names,
    words: Words,
    codes: LinkCodes | None,
    engine: AsyncEngine,
    reader: ConversationReader,
    intake: Intake,
    clock: Clock,
    ids: IdSource,
) -> APIRouter:
    """Return the route of Slack's events, with everything behind it. Without codes, nobody links themselves."""
    people = SlackPeople(engine, names=names, account_id=options.account_id, clock=clock)
    linking = None if codes is None else Linking(engine, codes, words)
    taking = SlackIntake(intake=intake, people=people, reader=reader, clock=clock, ids=ids, linking=linking)
    signature = SlackSignature(options.signing_secret)
    return slack_routes(signature=signature, clock=clock, intake=taking, bot_user_id=options.bot_user_id)
