"""A recorded conversation is forked at each of its replies, and follows a conversation that has begun."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seatrial import MakeAgent, RecordedConversation, recorded_conversation, reply, web_message

CONVERSATIONS = Path(__file__).parents[1] / "fixtures" / "conversations"
NEXT = "Thanks, that is all."


async def test_forks_at_each_reply_of_a_plain_conversation(agent: MakeAgent) -> None:
    await forked_at_each_reply(agent, recorded_conversation(CONVERSATIONS / "plain.json"))


async def test_forks_at_each_reply_of_a_conversation_with_tools(agent: MakeAgent) -> None:
    await forked_at_each_reply(agent, recorded_conversation(CONVERSATIONS / "tools.json"))


async def test_forks_at_each_reply_of_a_steered_and_stopped_conversation(agent: MakeAgent) -> None:
    await forked_at_each_reply(agent, recorded_conversation(CONVERSATIONS / "steered_and_stopped.json"))


async def test_forks_at_each_reply_of_a_paused_conversation(agent: MakeAgent) -> None:
    await forked_at_each_reply(agent, recorded_conversation(CONVERSATIONS / "paused.json"))


async def test_forks_at_each_reply_of_a_fork(agent: MakeAgent) -> None:
    await forked_at_each_reply(agent, recorded_conversation(CONVERSATIONS / "forked.json"))


async def test_a_recorded_conversation_follows_another_turn(agent: MakeAgent) -> None:
    """And the next turn sees both."""
    bosun = await agent(plugins=["memory"])
    first = await bosun.run(web_message("My favourite colour is green."))
    tools = recorded_conversation(CONVERSATIONS / "tools.json")
    second = await first.continue_(web_message("When is the launch?"), history=tools)
    assert [turn.status for turn in second.turns] == ["succeeded"]
    assert "Friday" in second.replies[-1].text


async def forked_at_each_reply(agent: MakeAgent, recorded: RecordedConversation) -> None:
    """Load it, fork at each reply that it holds, and find in each fork what people had seen by then, and its rows."""
    bosun = await agent(plugins=["memory"])
    conversation = await bosun.run(web_message(NEXT), history=recorded)
    rows = [(row["type"], row["payload"]) for row in recorded.data["rows"]]
    replies = [
        (at, data) for at, (type_, data) in enumerate(rows) if type_ == "message" and data["role"] == "assistant"
    ]
    assert replies
    for at, said in replies:
        fork = await conversation.fork(reply(said["text"]))
        events = await bosun.events(fork)
        end = next(n for n, row in enumerate(rows[at:], start=at) if ends(row, said["turn_id"]))
        assert [event["type"] for event in events] == [type_ for type_, _ in rows[: end + 1]]
        assert texts(event["data"] for event in events) == texts(data for _, data in rows[: end + 1])


def ends(row: tuple[str, Any], turn_id: str) -> bool:
    """Tell whether a row ends a turn."""
    type_, data = row
    return type_ in ("turn_completed", "turn_failed") and data["turn_id"] == turn_id


def texts(found: Any) -> list[str]:
    """Return what is said in rows, whoever said it to whom."""
    datas: list[Mapping[str, Any]] = list(found)
    return [str(data.get("text", data.get("output", ""))) for data in datas]
