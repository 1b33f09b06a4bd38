"""One attempt at delivering an answer, in a process of its own: `python slack_attempt.py POSTGRES SLACK TEXT`."""

from __future__ import annotations

import asyncio
import sys

from slack_bench import SlackBench
from slack_server import SlackServer

from bosun.log.events import TokenUsage
from bosun.stores.postgres import create_engine
from bosun.turn.lifecycle import Answered


async def attempt(postgres_url: str, slack_url: str, text: str) -> None:
    """Take the open turn up and end it, as the engine does."""
    engine = create_engine(postgres_url)
    bench = SlackBench(engine, SlackServer(url=slack_url))
    turn = await bench.reader.open_turn(bench.id)
    assert turn is not None
    if await bench.delivery.resume(turn) is None:
        await bench.delivery.end(turn, Answered(text), {"agent": TokenUsage(input_tokens=3)})
    bench.close()
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(attempt(*sys.argv[1:]))
