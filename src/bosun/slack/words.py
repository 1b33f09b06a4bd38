"""A few words in a thread that no turn has written, and that nothing depends on."""

from __future__ import annotations

import logging

from bosun.slack.channel import SlackThread
from bosun.slack.client import SlackClient, SlackFailure


class SlackWords:
    """Says fixed words. They are said once, or not at all, and what goes wrong is a warning."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client

    async def say(self, thread: SlackThread, mrkdwn: str) -> None:
        """Post into a thread."""
        try:
            await self._client.call(
                lambda web: web.chat_postMessage(channel=thread.channel, thread_ts=thread.thread_ts, text=mrkdwn)
            )
        except SlackFailure as failure:
            logging.getLogger("bosun.slack").warning("words in %s failed: %s", thread.conversation_id, failure)
