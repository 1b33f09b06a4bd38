"""Whether anything was lost: every message that was accepted, looked for by the reporting API."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from load_client import Client, Sent
from load_service import Service, ServiceFailed

LOOK_SECONDS = 1.0


@dataclass
class Findings:
    """What was counted, and every mistake."""

    accepted: int = 0
    turns: int = 0
    mistakes: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def good(self) -> bool:
        """Whether everything was accepted, and nothing lost or done twice."""
        return not self.mistakes and not self.refused


async def drained(client: Client, conversations: Sequence[tuple[str, str]], service: Service, seconds: float) -> None:
    """Return when no conversation has work any more. Raises ServiceFailed when that takes too long."""
    deadline = time.monotonic() + seconds
    left = list(conversations)
    while left:
        service.require_running()
        if time.monotonic() > deadline:
            raise ServiceFailed(f"{len(left)} conversations still have work after {seconds:g} s")
        # One that has work ends the look: looking is load too.
        while left and await _is_idle(client, *left[0]):
            left.pop(0)
        if left:
            await asyncio.sleep(LOOK_SECONDS)


async def _is_idle(client: Client, conversation_id: str, token: str) -> bool:
    status, state = await client.ask("GET", f"/api/conversations/{conversation_id}/pending", token)
    return status == 200 and state["status"] == "idle"


async def check_all(client: Client, conversations: Sequence[tuple[str, str]], sent: Sequence[Sent]) -> Findings:
    """Compare what was sent with what each conversation holds."""
    findings = Findings(accepted=sum(1 for message in sent if message.message_id is not None))
    for conversation_id, token in conversations:
        path = f"/api/conversations/{conversation_id}"
        _, view = await client.ask("GET", path, token)
        _, state = await client.ask("GET", f"{path}/pending", token)
        own = [message for message in sent if message.conversation_id == conversation_id]
        findings.turns += len(view["turns"])
        mistakes = [*_mistakes(own, view), *(f"'{each['text']}' is a dead letter" for each in state["deadLetters"])]
        findings.mistakes += [f"{conversation_id}: {mistake}" for mistake in mistakes]
    print("bench: every conversation was read", file=sys.stderr, flush=True)
    return findings


def _mistakes(sent: Sequence[Sent], view: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with one conversation, by the reporting API's view of it."""
    said = [message for message in view["messages"] if message["role"] == "user"]
    times = Counter(message["text"] for message in said)
    turn_of = {message["id"]: message["turnId"] for message in said}
    status_of = {turn["id"]: turn["status"] for turn in view["turns"]}
    answers = Counter(message["turnId"] for message in view["messages"] if message["role"] == "assistant")
    for message in sent:
        if message.message_id is None:  # not accepted: it may be there all the same, when only the answer failed
            if times[message.text] > 1:
                yield f"'{message.text}' is there {times[message.text]} times"
        elif times[message.text] != 1 or message.message_id not in turn_of:
            yield f"'{message.text}' was accepted and is there {times[message.text]} times"
        else:
            turn = turn_of[message.message_id]
            if status_of.get(turn) != "succeeded" or answers[turn] != 1:
                yield f"'{message.text}' has {answers[turn]} answers; its turn: {status_of.get(turn, 'none')}"
    for text in times.keys() - {message.text for message in sent}:
        yield f"'{text}' is there and was not sent"
