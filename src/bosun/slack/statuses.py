"""What a thread with one person says about itself: that Bosun works on an answer, and its title.

Both are nice to have: what goes wrong with them is a warning, and delays nobody for long.
"""

from __future__ import annotations

import logging
from typing import Final

from bosun.slack.channel import SlackThread
from bosun.slack.client import Ask, SlackClient, SlackFailure

WORKING: Final = "is thinking…"
"""Slack puts the app's name before it."""


class SlackStatuses:
    """Sets statuses and titles, in direct messages alone: in a channel they would be for everybody."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client

    async def working(self, conversation_id: str, busy: bool) -> None:
        """Say that Bosun works on an answer, or no longer. Slack itself takes the status back when Bosun posts."""
        thread = _direct(conversation_id)
        if thread is not None:
            await self._try(
                "status",
                thread,
                lambda web: web.assistant_threads_setStatus(
                    channel_id=thread.channel, thread_ts=thread.thread_ts, status=WORKING if busy else ""
                ),
            )

    async def title(self, conversation_id: str, title: str) -> None:
        """Give the thread its title in the person's list of threads."""
        thread = _direct(conversation_id)
        if thread is not None:
            await self._try(
                "title",
                thread,
                lambda web: web.assistant_threads_setTitle(
                    channel_id=thread.channel, thread_ts=thread.thread_ts, title=title
                ),
            )

    async def _try(self, what: str, thread: SlackThread, ask: Ask) -> None:
        try:
            await self._client.call(ask)
        except SlackFailure as failure:
            logging.getLogger("bosun.slack").warning("the %s of %s: %s", what, thread.conversation_id, failure)


def _direct(conversation_id: str) -> SlackThread | None:
    thread = SlackThread.of(conversation_id)
    return thread if thread is not None and thread.is_direct else None
