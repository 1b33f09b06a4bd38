"""Words for one person of a thread, which nobody else there sees: a link to authorize something, for example."""

from __future__ import annotations

import logging

from slack_sdk.web import SlackResponse, WebClient

from bosun.slack.channel import SlackThread
from bosun.slack.client import SlackClient, SlackFailure, Trouble


class SlackPrompts:
    """Tells people something in private."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client

    async def tell(self, thread: SlackThread, user_id: str, mrkdwn: str) -> Trouble | None:
        """Say it to this person alone: in a channel as a message that only they see. Return why not, or None.

        It is said once, or not at all: whether a lost one arrived cannot be found out.
        """

        def ask(web: WebClient) -> SlackResponse:
            if thread.is_direct:
                return web.chat_postMessage(channel=thread.channel, thread_ts=thread.thread_ts, text=mrkdwn)
            return web.chat_postEphemeral(channel=thread.channel, thread_ts=thread.thread_ts, user=user_id, text=mrkdwn)

        try:
            await self._client.insist(ask, may_count_twice=False)
        except SlackFailure as failure:
            logging.getLogger("bosun.slack").error("a prompt in %s failed: %s", thread.conversation_id, failure)
            return failure.kind
        return None
