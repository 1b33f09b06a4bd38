"""What Bosun does on Slack besides answering: it reacts, and says something elsewhere."""

from __future__ import annotations

import logging
from typing import Final

from bosun.log.reading import ConversationReader
from bosun.slack.channel import SlackThread
from bosun.slack.client import SlackClient, SlackFailure
from bosun.slack.format import to_mrkdwn
from bosun.tools import ToolFailed

NOT_HERE: Final = "the message was not written on Slack: there is nothing to react to"
NO_EMOJI: Final = "Slack has no emoji of that name: use a name such as thumbsup"
NOT_ALLOWED: Final = "Slack does not allow it here"
AWAY: Final = "Slack could not be reached"
MAYBE: Final = "Slack did not say whether it took the message: it may stand there"
NO_CHANNEL: Final = "Slack has no such channel: use its name, such as #general, or its id"
NOT_IN: Final = "Bosun is not in that channel: somebody there has to invite it"
CLOSED: Final = "that channel is archived: nothing can be said there"
_TOLD: Final = {
    "channel_not_found": NO_CHANNEL,
    "not_in_channel": NOT_IN,
    "is_archived": CLOSED,
    "msg_too_long": "the message is too long for Slack",
    "no_text": "the message has no text",
}


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

    async def say(self, channel: str, text: str) -> None:
        """Post a message in another channel, by its name or id. Raises `ToolFailed`.

        It is tried again only where Slack surely did not take it: nobody should read it twice.
        """
        said = to_mrkdwn(text)
        try:
            await self._client.insist(
                lambda web: web.chat_postMessage(channel=channel, text=said, unfurl_links=False), may_count_twice=False
            )
        except SlackFailure as failure:
            logging.getLogger("bosun.slack").warning("a message to %s failed: %s", channel, failure)
            known = _TOLD.get(failure.error)
            raise ToolFailed(known or (MAYBE if failure.may_have_counted else _told(failure))) from failure


def _told(failure: SlackFailure) -> str:
    if failure.error == "invalid_name":
        return NO_EMOJI
    return AWAY if failure.may_pass else NOT_ALLOWED
