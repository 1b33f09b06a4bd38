"""Bosun on Slack: what Slack sends goes to the webhook, people of the workspace are people that Bosun knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox
from bosun.plugins import PluginHost
from bosun.slack.channel import SlackThread as BosunThread
from bosun.slack.options import SlackOptions
from bosun.slack.people import link_slack_user
from bosun.slack.reading import mentions, readable
from bosun.stores.redis import connect
from bosun_binding.earlier_tools import EarlierTools
from bosun_binding.seams import HarnessSteps
from seatrial.binding import InputRefused, SlackExchange, World
from seatrial.slack import SlackAccess, SlackMember, SlackPost, SlackRequest, SlackThread

PATH = "/api/webhooks/slack"


def slack_options(access: SlackAccess, account_id: str) -> SlackOptions:
    """Return the options of a Bosun that is installed in the workspace."""
    return SlackOptions(
        bot_token=access.bot_token,
        signing_secret=access.signing_secret,
        account_id=account_id,
        bot_user_id=access.bot_user_id,
        base_url=access.base_url,
    )


class OnSlack:
    """The Slack side of one running Bosun, over the web address and the stores that it has."""

    def __init__(self, access: SlackAccess, mailbox: Mailbox, host: PluginHost, tools: EarlierTools) -> None:
        self._access = access
        self._mailbox = mailbox
        self._host = host
        self._tools = tools
        self._log = ConversationLog(host.engine, clock=host.clock, ids=host.ids)
        self._names: dict[str, str] = {}

    async def meet(self, member: SlackMember, identity_id: str, name: str) -> None:
        """Connect a member of the workspace with the person that Bosun knows already."""
        self._names[member.user_id] = name
        await link_slack_user(self._host.engine, self._access.team_id, member.user_id, identity_id)

    async def receive(self, request: SlackRequest, http: httpx.AsyncClient) -> None:
        """Post what Slack sends. Raises InputRefused with Bosun's answer."""
        response = await http.post(PATH, content=request.body, headers=dict(request.headers))
        if response.status_code != 200:
            raise InputRefused(f"{PATH} answered {response.status_code}: {response.text}")

    async def load_history(
        self, turns: tuple[SlackExchange, ...], thread: SlackThread, *, actor_id: str, account_id: str
    ) -> None:
        """Store earlier turns of a thread by the calls that Bosun's worker makes, and follow it as after an answer."""
        there = BosunThread(thread.channel, thread.ts)
        await self._log.open_conversation(
            ConversationRecord(id=there.conversation_id, account_id=account_id, actor_id=actor_id, location="slack")
        )
        for exchange in turns:
            messages = [self._inbound(there, post) for post in exchange.messages]
            for message in messages:
                await self._log.accept_message(there.conversation_id, message)
            turn = await self._log.start_turn(there.conversation_id, messages)
            await self._tools.store(self._log, turn, exchange.reply.tools)
            await self._log.commit_reply(turn, exchange.reply.text)
        await self._mailbox.subscribe(there.conversation_id)

    def _inbound(self, thread: BosunThread, post: SlackPost) -> InboundMessage:
        assert post.member is not None
        names = {user: self._names.get(user, user) for user in mentions(post.text)}
        return InboundMessage(
            id=self._host.ids.derive(thread.conversation_id, "message", post.ts),
            actor_id=post.member.name,
            author=self._names[post.member.user_id],
            source="slack",
            text=readable(post.text, names, bot_user_id=self._access.bot_user_id),
            received_at=self._host.clock.now(),
            place=post.ts,
        )


@asynccontextmanager
async def on_slack(world: World, host: PluginHost, tools: EarlierTools) -> AsyncIterator[OnSlack | None]:
    """Return Bosun's side on Slack while its stores are open; None where the trial has no Slack."""
    if world.slack is None:
        yield None
        return
    redis = connect(world.redis_url)
    try:
        mailbox = Mailbox(redis, clock=host.clock, ids=host.ids, steps=HarnessSteps(world), attempts=1)
        yield OnSlack(world.slack, mailbox, host, tools)
    finally:
        await redis.aclose()


def conversation_in(thread: SlackThread) -> str:
    """Return the id of the conversation that a thread is."""
    return BosunThread(thread.channel, thread.ts).conversation_id
