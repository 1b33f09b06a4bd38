"""What Bosun does in a thread besides writing: it reacts."""

from __future__ import annotations

import logging
from typing import Final

from bosun.log.reading import ConversationReader
from bosun.slack.channel import SlackThread
from bosun.slack.client import SlackClient, SlackFailure
from bosun.tools import ToolFailed

NOT_HERE: Final = "the message was not written on Slack: there is nothing to react to"
NO_EMOJI: Final = "Slack has no emoji of that name: use a name such as thumbsup"
NOT_ALLOWED: Final = "Slack does not allow it here"
AWAY: Final = "Slack could not be reached"


class SlackActions:
    """Acts on messages, for the tools of plugins."""

    def __init__(self, client: SlackClient, reader: ConversationReader) -> None:
        self._client = client
        self._reader = reader

    async def react(self, conversation_id: str, turn_id: str, emoji: str) -> None:
        """Put a reaction under the message that a turn answers. One that is there already is as good.

        Raises `ToolFailed`.
        """
        thread = SlackThread.of(conversation_id)
        ts = None if thread is None else await self._reader.place(conversation_id, turn_id)
        if thread is None or ts is None:
            raise ToolFailed(NOT_HERE)
        channel = thread.channel
        try:
            await self._client.insist(lambda web: web.reactions_add(channel=channel, timestamp=ts, name=emoji))
        except SlackFailure as failure:
            if failure.error == "already_reacted":
                return
            logging.getLogger("bosun.slack").warning("a reaction in %s failed: %s", conversation_id, failure)
            raise ToolFailed(_told(failure)) from failure


def _told(failure: SlackFailure) -> str:
    if failure.error == "invalid_name":
        return NO_EMOJI
    return AWAY if failure.may_pass else NOT_ALLOWED
