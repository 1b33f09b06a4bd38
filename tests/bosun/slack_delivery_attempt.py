"""One attempt at delivering an answer, in a process of its own.

Its arguments: the URLs of the database and of Slack, the conversation, the text.
It imports little: it is started for each of its deaths.
"""

from __future__ import annotations

import asyncio
import sys

from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.machine import SystemClock, SystemIds, SystemTimer
from bosun.slack.egress import SlackEgress
from bosun.slack.options import SlackOptions
from bosun.steps import LoggedSteps
from bosun.stores.postgres import create_engine
from bosun.turn.lifecycle import Answered
from bosun.turn.posting import PostedDelivery


async def attempt(postgres_url: str, slack_url: str, conversation_id: str, text: str) -> None:
    """Take the open turn up and end it, as the engine does."""
    engine = create_engine(postgres_url)
    log, reader = ConversationLog(engine, clock=SystemClock(), ids=SystemIds()), ConversationReader(engine)
    options = SlackOptions(bot_token="xoxb-test", signing_secret="s", account_id="standard", base_url=slack_url)
    slack = SlackEgress(options, timer=SystemTimer(), reader=reader)
    delivery = PostedDelivery(
        log, reader, LoggedSteps(), source="slack", posts=slack.posts, presence=slack.statuses, stopped=slack.stopped
    )
    turn = await reader.open_turn(conversation_id)
    assert turn is not None
    await delivery.end(turn, Answered(text), {})


if __name__ == "__main__":
    asyncio.run(attempt(*sys.argv[1:]))
