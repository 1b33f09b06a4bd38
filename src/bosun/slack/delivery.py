"""What Bosun says in a thread: each part of it once, whatever happens between the first and the last.

A part carries its key and its number in the message's metadata. After a failure that may have been none, and after a
crash, the thread is read before anything is posted.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slack_sdk.web import SlackResponse, WebClient

from bosun.slack.channel import SlackThread
from bosun.slack.client import Ask, SlackClient, SlackFailure, Trouble
from bosun.slack.format import split_message, to_mrkdwn
from bosun.timer import Timer

EVENT_TYPE: Final = "bosun_reply"
"""The `event_type` of the metadata."""
PAGE: Final = 200
"""Messages of a thread that are read at once."""

STOPPED: Final = "I stopped. I will stay out of this thread until somebody mentions me."
"""What people read in a thread after a stop."""

UNDELIVERED: Final[Mapping[Trouble, str]] = {
    "permission": "I could not deliver my words: Slack does not let me write there. Whoever runs Bosun has to look.",
    "invalid_request": "I could not deliver my words: Slack did not accept them. Whoever runs Bosun has to look.",
    "rate_limit": "I could not deliver my words: Slack gets too many from me. Please try again in a few minutes.",
    "network": "I could not deliver my words: Slack could not be reached. Please try again in a few minutes.",
    "server": "I could not deliver my words: Slack had an internal error. Please try again in a few minutes.",
}
"""What people read on the web when something could not be posted."""


@dataclass(frozen=True)
class NotPosted:
    """Why words are not in their thread, or not all of them."""

    kind: Trouble

    @property
    def sentence(self) -> str:
        """What people read about it."""
        return UNDELIVERED[self.kind]


_LOGGER: Final = logging.getLogger("bosun.slack")


class SlackPosts:
    """Posts in the threads that conversations are."""

    def __init__(self, client: SlackClient, timer: Timer) -> None:
        self._client = client
        self._timer = timer
        self._own: frozenset[str] | None = None

    def parts(self, text: str) -> Sequence[str]:
        """Return Markdown as the messages that it is posted as."""
        return split_message(to_mrkdwn(text))

    async def post(self, conversation_id: str, key: str, parts: Sequence[str], *, again: bool) -> NotPosted | None:
        """Post those of the parts that are not there. Return why not all of them are, or None.

        `again` says that some of them may be there. A failure that may pass is waited out, a bounded number of times
        for each part.
        """
        thread = SlackThread.of(conversation_id)
        if thread is None:
            _LOGGER.error("%s is no thread of Slack's: nothing can be posted there", conversation_id)
            return NotPosted("invalid_request")
        there: set[int] = set()
        unsure, tries = again, 0
        while True:
            try:
                if unsure:
                    found = await self._posted(thread, key)
                    unsure, tries = False, 0 if found - there else tries
                    there |= found
                for number, part in enumerate(parts, start=1):
                    if number not in there:
                        await self._client.call(_post(thread, part, key, number, len(parts)))
                        there.add(number)
                        tries = 0
                return None
            except SlackFailure as failure:
                tries += 1
                wait = failure.wait(tries)
                unsure = unsure or failure.may_have_counted
                if wait is None:
                    _LOGGER.warning("posting in %s failed: %s", conversation_id, failure)
                    return NotPosted(failure.kind)
                _LOGGER.warning("posting in %s is tried again in %g s: %s", conversation_id, wait, failure)
            await self._timer.sleep(wait)

    async def _posted(self, thread: SlackThread, key: str) -> set[int]:
        """Return the numbers of the parts that are in the thread. Another app's messages are nobody's parts."""
        if self._own is None:
            told = await self._client.call(lambda web: web.auth_test())
            self._own = frozenset(str(told[name]) for name in ("user_id", "bot_id") if told.get(name))
        found: set[int] = set()
        async for message in self._messages(thread):
            if self._own & {message.get("user"), message.get("bot_id")}:
                number = _number(message.get("metadata"), key)
                if number is not None:
                    found.add(number)
        return found

    async def _messages(self, thread: SlackThread) -> AsyncIterator[Mapping[str, Any]]:
        cursor: str | None = None
        while True:
            page = await self._client.call(_page(thread, cursor))
            for message in page.get("messages") or ():
                if isinstance(message, dict):
                    yield message
            following = (page.get("response_metadata") or {}).get("next_cursor")
            if not following or following == cursor:
                return
            cursor = following


def _post(thread: SlackThread, part: str, key: str, number: int, of: int) -> Ask:
    metadata = {"event_type": EVENT_TYPE, "event_payload": {"key": key, "part": number, "of": of}}

    def ask(web: WebClient) -> SlackResponse:
        return web.chat_postMessage(channel=thread.channel, thread_ts=thread.thread_ts, text=part, metadata=metadata)

    return ask


def _page(thread: SlackThread, cursor: str | None) -> Ask:
    def ask(web: WebClient) -> SlackResponse:
        return web.conversations_replies(
            channel=thread.channel, ts=thread.thread_ts, cursor=cursor, limit=PAGE, include_all_metadata=True
        )

    return ask


def _number(metadata: object, key: str) -> int | None:
    """Return which part of the key's words a message is, by its metadata, which anybody may have written."""
    if not isinstance(metadata, dict) or metadata.get("event_type") != EVENT_TYPE:
        return None
    payload = metadata.get("event_payload")
    if not isinstance(payload, dict) or payload.get("key") != key:
        return None
    part = payload.get("part")
    return part if isinstance(part, int) else None
