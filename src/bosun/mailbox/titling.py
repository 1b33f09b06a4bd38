"""Handing a conversation's title to the background runner, once its first message by a person is in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bosun.background import BackgroundRunner
from bosun.log.messages import InboundMessage
from bosun.log.reading import ConversationReader
from bosun.steps import Step, StepSink

WriteTitle = Callable[[str, str], Awaitable[None]]
"""Writes the title of a conversation (its id) from its first message (the text)."""


class TitleHandover:
    """Submits a title job at most once a conversation: where a title exists or is on its way, none is asked for."""

    def __init__(
        self, reader: ConversationReader, background: BackgroundRunner, write: WriteTitle, steps: StepSink
    ) -> None:
        self._reader = reader
        self._background = background
        self._write = write
        self._steps = steps
        self._under_way: set[str] = set()

    async def offer(self, conversation_id: str, batch: Sequence[InboundMessage]) -> None:
        """Submit the job when the batch holds the first message; loaded history leaves nothing to do."""
        if conversation_id in self._under_way:
            return
        first = await self._reader.first_human_message(conversation_id)
        if first is None or all(message.id != first.message_id for message in batch):
            return
        conversation = await self._reader.conversation(conversation_id)
        if conversation is None or conversation.title is not None:
            return
        self._under_way.add(conversation_id)
        text = first.text

        async def work() -> None:
            try:
                await self._write(conversation_id, text)
            finally:
                self._under_way.discard(conversation_id)
            self._steps.emit(Step("task.finished", conversation_id, {"kind": "title"}))

        self._background.submit("title", conversation_id, work)
