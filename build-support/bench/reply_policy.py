"""How well the reply policy decides: invented messages with what a person would say of each, put to a real model.

PYTHONPATH=src python build-support/bench/reply_policy.py http://127.0.0.1:8000/v1

Prints one line a message, and then the table of `src/bosun/model/REPLY_POLICY.md`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bosun.log.messages import HistoryMessage, InboundMessage
from bosun.log.overhearing import ReplyDecision
from bosun.machine import SystemTimer
from bosun.model.client import ModelClient
from bosun.model.options import ModelOptions
from bosun.model.reply_policy import ReplyPolicy
from bosun.steps import LoggedSteps

MESSAGES = Path(__file__).with_name("reply_messages.json")


def said(author: str, text: str) -> HistoryMessage:
    """Return a message of a thread."""
    if author == "Bosun":
        return HistoryMessage(role="assistant", text=text)
    return HistoryMessage(role="user", text=text, author=author)


async def decide(policy: ReplyPolicy, case: dict[str, Any], threads: dict[str, Any]) -> ReplyDecision:
    """Return what the policy decides about one message."""
    author, text = case["said"]
    message = InboundMessage(
        id="1", actor_id=author, author=author, text=text, received_at=datetime(2030, 1, 1, tzinfo=UTC)
    )
    recent = [said(*line) for line in threads[case["thread"]]]
    return await policy.decide([message], recent, conversation_id="bench")


async def main(url: str) -> None:
    """Ask about each message, and count."""
    data = json.loads(MESSAGES.read_text(encoding="utf-8"))
    model = ModelClient(ModelOptions(base_url=url), timer=SystemTimer(), steps=LoggedSteps())
    policy = ReplyPolicy(model)
    counts: Counter[tuple[str, str, str]] = Counter()
    for case in data["messages"]:
        decision = await decide(policy, case, data["threads"])
        got = "unsubscribe" if decision.unsubscribe else "reply" if decision.reply else "silence"
        counts[decision.by, case["expected"], got] += 1
        mark = "ok " if got == case["expected"] else "-- "
        print(
            f"{mark}{decision.by:5} {case['expected']:11} {got:11} {case['said'][1]!r} ({decision.reason})", flush=True
        )
    await model.close()
    print("\n| decided by | expected | messages | reply | silence | unsubscribe |\n|---|---|---|---|---|---|")
    for by in ("rule", "model"):
        for expected in ("reply", "silence", "unsubscribe"):
            row = [counts[by, expected, got] for got in ("reply", "silence", "unsubscribe")]
            print(f"| {by} | {expected} | {sum(row)} | {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
