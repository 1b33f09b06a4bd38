"""Handing a conversation's title to the background runner, once its first message by a person is in the log.

Which titles are on their way is kept in Redis: a process that ends before they are written loses none.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from redis.asyncio import Redis

from bosun.background import BackgroundRunner
from bosun.log.messages import InboundMessage
from bosun.log.reading import ConversationReader
from bosun.steps import Step, StepSink
from bosun.stores.faults import STORE_AWAY
from bosun.stores.redis import KEY_PREFIX

WriteTitle = Callable[[str, str], Awaitable[None]]
"""Writes the title of a conversation (its id) from its first message (the text), unless it has one, and shows it."""

UNDER_WAY: Final = f"{KEY_PREFIX}titles"
"""The conversations whose title is on its way (set)."""


class TitleHandover:
    """Submits a title job at most once a conversation: where a title exists or is on its way, none is asked for."""

    def __init__(
        self, reader: ConversationReader, background: BackgroundRunner, write: WriteTitle, steps: StepSink, redis: Redis
    ) -> None:
        self._reader = reader
        self._background = background
        self._write = write
        self._steps = steps
        self._redis = redis
        self._under_way: set[str] = set()

    async def offer(self, conversation_id: str, batch: Sequence[InboundMessage]) -> None:
        """Submit the job when the batch holds the first message; loaded history leaves nothing to do."""
        if conversation_id in self._under_way:
            return
        first = await self._reader.first_human_message(conversation_id)
        if first is None or all(message.id != first.message_id for message in batch):
            return
        await self._submit(conversation_id, first.text)

    async def mend(self) -> None:
        """Submit again what a process that is gone had on its way. Another one that lives may do the same work.

        A title that is there may not have been shown everywhere.
        """
        for conversation_id in sorted(str(each) for each in await self._redis.smembers(UNDER_WAY)):
            first = await self._reader.first_human_message(conversation_id)
            if first is not None and conversation_id not in self._under_way:
                await self._submit(conversation_id, first.text, again=True)

    async def _submit(self, conversation_id: str, text: str, *, again: bool = False) -> None:
        conversation = await self._reader.conversation(conversation_id)
        if conversation is None or (conversation.title is not None and not again):
            await self._redis.srem(UNDER_WAY, conversation_id)
            return
        await self._redis.sadd(UNDER_WAY, conversation_id)
        self._under_way.add(conversation_id)

        async def work() -> None:
            try:
                await self._write(conversation_id, text)
            except Exception:
                await self._forget(conversation_id)  # it stays without a title; a cancelled job is done another time
                raise
            finally:
                self._under_way.discard(conversation_id)
            await self._forget(conversation_id)
            self._steps.emit(Step("task.finished", conversation_id, {"kind": "title"}))

        self._background.submit("title", conversation_id, work)

    async def _forget(self, conversation_id: str) -> None:
        try:
            await self._redis.srem(UNDER_WAY, conversation_id)
        except STORE_AWAY as error:  # whoever mends finds that there is a title
            logging.getLogger("bosun.worker").warning("a title stays marked as under way: %s", type(error).__name__)
