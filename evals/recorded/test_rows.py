"""Loaded history is what a turn would have written: rows of a real turn, and of the same one loaded, type by type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from seatrial import MakeAgent, reply, slack_direct_message, slack_mention, tool_call, web_message

ASK = "Which plan am I on?"
KEEP = "Remember that the launch is on Friday."
NEXT = "Thanks, that is all."

ONLY_WHILE_IT_RUNS = ("turn_context", "turn_routed", "delivery_started")
OF_THE_CONVERSATION = ("title",)

Row = tuple[str, str]

IS_ID = re.compile(r"(?:message|turn|tool_call):|[0-9]{10}\.[0-9]{6}$")
"""How Bosun's ids begin, and what a message is called on Slack."""


async def test_a_loaded_turn_has_the_rows_of_a_real_one(agent: MakeAgent) -> None:
    """With all that is in them but ids, times and usage."""
    bosun = await agent()
    real = await bosun.run(web_message(ASK))
    loaded = await bosun.run(web_message(NEXT), history=[web_message(ASK), reply(real.replies[0].text)])
    written, stored = rows(await bosun.events(real)), rows(await bosun.events(loaded))
    assert kinds(written) == ["message", "turn_started", "user_message", *ENDING]
    assert stored[: len(written)] == written


async def test_a_loaded_call_of_a_tool_has_the_rows_of_a_real_one(agent: MakeAgent) -> None:
    """What was decided about it and what came of it, too."""
    bosun = await agent(plugins=["memory"])
    real = await bosun.run(web_message(KEEP))
    (call,) = real.tool_calls
    answer = reply(real.replies[0].text, tools=[tool_call(call.name, call.input, call.output)])
    loaded = await bosun.run(web_message(NEXT), history=[web_message(KEEP), answer])
    written, stored = rows(await bosun.events(real)), rows(await bosun.events(loaded))
    called = ["assistant_message", "guardian_action_reviewed", "tool_execution_started", "tool_result"]
    assert kinds(written) == ["message", "turn_started", "user_message", *called, *ENDING]
    assert stored[: len(written)] == written


async def test_history_that_follows_a_turn_has_the_rows_of_a_real_one(agent: MakeAgent) -> None:
    """The second turn of a conversation, loaded after a first one that ran; its number too."""
    bosun = await agent()
    real = await bosun.run(web_message(ASK))
    second = await real.continue_(web_message(ASK))
    other = await bosun.run(web_message(ASK))
    loaded = await other.continue_(web_message(NEXT), history=[web_message(ASK), reply(second.replies[0].text)])
    written, stored = rows(await bosun.events(real)), rows(await bosun.events(loaded))
    assert stored[: len(written)] == written
    assert numbers(stored) == [1, 2, 3]


async def test_a_loaded_turn_in_a_channel_has_the_rows_of_a_real_one(agent: MakeAgent) -> None:
    """On Slack, in the thread of a mention."""
    bosun = await agent(slack=True)
    real = await bosun.run(slack_mention(ASK))
    loaded = await bosun.run(slack_mention(NEXT), history=[slack_mention(ASK), reply(real.replies[0].text)])
    written, stored = rows(await bosun.events(real)), rows(await bosun.events(loaded))
    assert kinds(written) == ["message", "turn_started", "user_message", *ENDING]
    assert stored[: len(written)] == written


async def test_a_loaded_turn_in_a_direct_message_has_the_rows_of_a_real_one(agent: MakeAgent) -> None:
    """On Slack, in the thread of a direct message."""
    bosun = await agent(slack=True)
    real = await bosun.run(slack_direct_message(ASK))
    loaded = await bosun.run(
        slack_direct_message(NEXT), history=[slack_direct_message(ASK), reply(real.replies[0].text)]
    )
    written, stored = rows(await bosun.events(real)), rows(await bosun.events(loaded))
    assert kinds(written) == ["message", "turn_started", "user_message", *ENDING]
    assert stored[: len(written)] == written


ENDING = ["message", "assistant_message", "message_handled", "turn_completed"]


def rows(events: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return type and data of each event that a turn leaves, with its ids numbered in their order."""
    ids: dict[str, str] = {}
    left = [event for event in events if event["type"] not in (*ONLY_WHILE_IT_RUNS, *OF_THE_CONVERSATION)]
    return [(str(event["type"]), json.dumps(without_ids(event["data"], ids), sort_keys=True)) for event in left]


def without_ids(value: Any, ids: dict[str, str]) -> Any:
    """Return the data with every id replaced by its number, and without usage."""
    if isinstance(value, dict):
        return {name: without_ids(each, ids) for name, each in value.items() if name != "usage"}
    if isinstance(value, list):
        return [without_ids(each, ids) for each in value]
    if isinstance(value, str) and IS_ID.match(value):
        return ids.setdefault(value, f"id {len(ids) + 1}")
    if isinstance(value, str) and value[:1] == "{":
        return json.loads(value)  # arguments: a model spaces them as it likes
    return value


def kinds(found: Iterable[Row]) -> list[str]:
    """Return the rows' types."""
    return [type_ for type_, _ in found]


def numbers(found: Iterable[Row]) -> list[int]:
    """Return the ordinals of the turns."""
    return [json.loads(data)["ordinal"] for type_, data in found if type_ == "turn_started"]
