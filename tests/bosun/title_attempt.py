"""A process that hands a title over and is killed before the title is there.

Its arguments: the URLs of the database and of Redis, the conversation, the id of its first message, and whether the
title is written before the end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from bosun.background import TaskGroupRunner
from bosun.log.messages import InboundMessage
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.machine import SystemClock, SystemIds
from bosun.mailbox.titling import TitleHandover
from bosun.steps import LoggedSteps
from bosun.stores.postgres import create_engine
from bosun.stores.redis import connect


async def attempt(postgres_url: str, redis_url: str, conversation_id: str, message_id: str, written: str) -> None:
    """Do what a worker does, up to the end."""
    engine = create_engine(postgres_url)
    log, reader = ConversationLog(engine, clock=SystemClock(), ids=SystemIds()), ConversationReader(engine)

    async def write(conversation_id: str, text: str) -> None:
        if written == "written":
            await log.set_title(conversation_id, "The first title")
        os.kill(os.getpid(), signal.SIGKILL)

    async with TaskGroupRunner() as background:
        titles = TitleHandover(reader, background, write, LoggedSteps(), connect(redis_url))
        first = InboundMessage(
            id=message_id, actor_id="morgan", author="Morgan", text="text", received_at=SystemClock().now()
        )
        await titles.offer(conversation_id, [first])


if __name__ == "__main__":
    asyncio.run(attempt(*sys.argv[1:]))
