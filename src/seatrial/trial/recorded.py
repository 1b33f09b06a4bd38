"""What a test says that came before: whether the agent under test can have it, and how a recorded one is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seatrial.binding import Agent, Binding, ChecksRecorded, Composition, LoadsRecorded, TellsEvents
from seatrial.history import History, HistoryReply, RecordedConversation, reply
from seatrial.trial.earlier_replies import EarlierReplies
from seatrial.trial.settings import TrialInvalid


def history_mistakes(history: History, agent: Agent, binding: Binding, composition: Composition) -> tuple[str, ...]:
    """Return every mistake in history, in words, before anything of it is stored."""
    if isinstance(history, RecordedConversation):
        if not isinstance(agent, LoadsRecorded):
            return ("the agent under test loads no recorded conversation: its binding's agent has no 'load_recorded'",)
        found = binding.check_recorded(history) if isinstance(binding, ChecksRecorded) else ()
        return tuple(f"{history.name}: {mistake}" for mistake in found)
    return tuple(
        mistake
        for item in history
        for tool in (item.tools if isinstance(item, HistoryReply) else ())
        for mistake in binding.check_tool_call(tool.name, tool.input, composition)
    )


async def load_recorded(
    agent: Agent, earlier: EarlierReplies, recorded: RecordedConversation, conversation_id: str | None, key: str
) -> str:
    """Store a recorded conversation, and know its replies by their words from now on; return where it is.

    Raises TrialInvalid when the agent does not take it.
    """
    assert isinstance(agent, LoadsRecorded)
    before = () if conversation_id is None else (await agent.read(conversation_id)).replies
    try:
        loaded = await agent.load_recorded(recorded, conversation_id=conversation_id, key=key)
    except ValueError as error:
        raise TrialInvalid(f"{recorded.name}: {error}") from error
    replies = (await agent.read(loaded)).replies
    earlier.add(loaded, [reply(each.text) for each in replies[len(before) :]], replies)
    return loaded


async def events_of(agent: Agent, conversation_id: str) -> tuple[Mapping[str, Any], ...]:
    """Return what the agent's reporting API tells of each event of a conversation. Raises TrialInvalid."""
    if not isinstance(agent, TellsEvents):
        raise TrialInvalid("the agent under test tells no events: its binding's agent has no 'all_events'")
    return await agent.all_events(conversation_id)
