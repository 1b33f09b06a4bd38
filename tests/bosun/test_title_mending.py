"""Titles whose process ended before they were shown: they are shown by the next one."""

from __future__ import annotations

import asyncio

import pytest
from conftest import START, KeptSteps
from redis.asyncio import Redis

from bosun.background import TaskGroupRunner
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.titling import TitleHandover


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.asyncio
async def test_a_title_job_that_was_cut_off_is_done_again_to_its_end(
    redis: Redis, log: ConversationLog, reader: ConversationReader, steps: KeptSteps, stored: bool
) -> None:
    """Whether or not the title was stored by then: a thread on Slack is told of it after that."""
    await log.open_conversation(ConversationRecord(id="slack:D1:1.1", account_id="a", actor_id="morgan"))
    said = InboundMessage(id="1", actor_id="morgan", author="Morgan", text="Hello", received_at=START)
    await log.accept_message("slack:D1:1.1", said)
    begun, shown = asyncio.Event(), asyncio.Event()

    async def cut_off(conversation_id: str, text: str) -> None:
        if stored:
            await log.set_title(conversation_id, "A title")
        begun.set()
        await asyncio.Event().wait()

    async def show(conversation_id: str, text: str) -> None:
        assert (conversation_id, text) == ("slack:D1:1.1", "Hello")
        shown.set()

    with pytest.raises(BaseExceptionGroup):
        async with TaskGroupRunner() as background:
            await TitleHandover(reader, background, cut_off, steps, redis).offer("slack:D1:1.1", [said])
            await begun.wait()
            raise KeyError
    async with TaskGroupRunner() as background:
        titles = TitleHandover(reader, background, show, steps, redis)
        await titles.mend()
        await shown.wait()
    assert steps.names == ["task.finished"]
    async with TaskGroupRunner() as background:
        await TitleHandover(reader, background, cut_off, steps, redis).mend()
    assert steps.names == ["task.finished"]
