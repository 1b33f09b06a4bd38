"""`link CODE`, sent as a direct message: the person on Slack is whoever made the code on the web.

Who sends it is proven by Slack's signature, whose code it is by the session that made it. It joins people of one
account, and nobody who is joined to somebody already: the rest is for `python -m bosun slack link`.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.link_codes import CODE_AGE, CodeRefused, LinkCodes
from bosun.slack.channel import SlackThread
from bosun.slack.escaping import escape
from bosun.slack.people import become, own_identity
from bosun.stores.tables import identities, slack_users

LINKED: Final = "You are *{name}* on the web from now on. What you wrote to me here before is yours there, too."
REFUSED: Final = "Nothing has changed: {why}. The page *Slack* of the dashboard makes a code, for {minutes} minutes."
SPOILED: Final = (
    "Others can read this, so that the code does not work any more, and nothing has changed. "
    "Make a new one, and send it to me as a direct message."
)


class Words(Protocol):
    """Says something on Slack that nothing depends on."""

    async def say(self, thread: SlackThread, mrkdwn: str) -> None:
        """Say it in a thread, once or not at all."""
        ...


class Linking:
    """Links people. The link is durable before it is told; who was not told sees it on the page."""

    def __init__(self, engine: AsyncEngine, codes: LinkCodes, words: Words) -> None:
        self._engine = engine
        self._codes = codes
        self._words = words

    async def link(self, thread: SlackThread, team_id: str, user_id: str, code: str, message_id: str) -> None:
        """Link a known person by a code, and say what came of it. The same message again is told the same."""
        try:
            name = await self._become(team_id, user_id, code, message_id)
        except CodeRefused as refused:
            minutes = int(CODE_AGE.total_seconds()) // 60
            await self._words.say(thread, REFUSED.format(why=refused, minutes=minutes))
        else:
            await self._words.say(thread, LINKED.format(name=escape(name)))

    async def overheard(
        self, thread: SlackThread, code: str, message_id: str, *, called: bool
    ) -> Literal["accepted", "duplicate"] | None:
        """Spoil a code that was said before others. Return None for what is no code: it is a message like others."""
        spoiled = await self._codes.spoil(code, message_id)
        if spoiled == "no_code":
            return None
        if spoiled == "again":
            return "duplicate"
        if called:
            await self._words.say(thread, SPOILED)
        return "accepted"

    async def _become(self, team_id: str, user_id: str, code: str, message_id: str) -> str:
        async with self._engine.begin() as connection:
            person = await self._codes.take(connection, code, message_id)
            query = (
                select(identities.c.id, identities.c.account_id)
                .join_from(slack_users, identities, identities.c.id == slack_users.c.identity_id)
                .where(slack_users.c.team_id == team_id, slack_users.c.user_id == user_id)
                .with_for_update(of=slack_users)
            )
            now = (await connection.execute(query)).one()
            if now.id not in (person.id, own_identity(team_id, user_id)):
                raise CodeRefused("you are somebody else on the web already, which only whoever runs me can change")
            if now.account_id != person.account_id:
                raise CodeRefused("the code is of another account, so that only whoever runs me can link you")
            await become(connection, team_id, user_id, person.id)
        return person.display_name
