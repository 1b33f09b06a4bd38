"""A recorded conversation comes before an input as a whole, or the test hears why it cannot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from invented_agent import InventedBinding, TalksOnly
from trials import both, settings

from seatrial import RecordedConversation, recorded_conversation, reply, web_message
from seatrial.binding import Agent, World
from seatrial.history import Exchange, RecordedUnreadable
from seatrial.trial import Trial, TrialInvalid, open_trial

TALK = RecordedConversation("talk.json", [["a", "first"], ["b", "second"]])


class Recalls(InventedBinding):
    """The binding of an agent whose recorded conversations are lists of what was said and answered."""

    def check_recorded(self, recorded: RecordedConversation) -> tuple[str, ...]:
        return () if isinstance(recorded.data, list) else ("it is no list", "it has no words")

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        async with super().running(world) as agent:
            yield _Recalling(agent)


class _Recalling:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    async def load_recorded(self, recorded: RecordedConversation, *, conversation_id: str | None, key: str) -> str:
        if recorded.data == []:
            raise ValueError("it is empty")
        turns = tuple(Exchange((web_message(said),), reply(answer)) for said, answer in recorded.data)
        return await self._agent.load_history(turns, conversation_id=conversation_id, key=key)

    async def all_events(self, conversation_id: str) -> tuple[Mapping[str, Any], ...]:
        return tuple({"text": said.text} for said in (await self._agent.read(conversation_id)).transcript)


def test_a_recorded_conversation_goes_on_and_is_no_part_of_what_comes_of_it() -> None:
    async def scenario(trial: Trial) -> Any:
        first = await trial.run(web_message("c"), history=TALK)
        second = await first.continue_(web_message("d"), history=TALK)
        there = [each["text"] for each in await trial.events(first.conversation_id)]
        return [said.text for said in first.transcript] + [each.text for each in second.replies], there

    said, there = both(scenario, binding=Recalls())[0]
    assert said == ["c", "You said: c", "You said: d"]
    assert there == ["a", "first", "b", "second", *said[:2], "a", "first", "b", "second", "d", said[2]]


def test_a_recorded_conversation_is_loaded_and_forked_at_a_reply_by_its_words() -> None:
    async def scenario(trial: Trial) -> Any:
        loaded = await trial.load(TALK)
        conversation = await trial.continue_conversation(loaded, web_message("c"), ())
        fork = await conversation.fork(reply("first"))
        return [len(await trial.replies(each)) for each in (loaded, fork.conversation_id)], conversation.number

    assert both(scenario, binding=Recalls())[0] == ([3, 1], 1)


def test_what_the_agent_does_not_take_is_told_and_nothing_is_sent() -> None:
    async def run(data: Any, binding: Any) -> tuple[str, int]:
        async with open_trial(settings(binding=binding)) as trial:
            with pytest.raises(TrialInvalid) as caught:
                await trial.run(web_message("c"), history=RecordedConversation("talk.json", data))
            assert trial.calls == []
            return str(caught.value), len(trial.requests)

    assert asyncio.run(run({}, Recalls())) == ("talk.json: it is no list; talk.json: it has no words", 0)
    assert asyncio.run(run([], Recalls())) == ("talk.json: it is empty", 0)
    told, requests = asyncio.run(run([["a", "b"]], TalksOnly()))
    assert ("loads no recorded conversation" in told, requests) == (True, 0)


def test_an_agent_that_tells_no_events_says_so() -> None:
    async def run() -> None:
        async with open_trial(settings(binding=TalksOnly())) as trial:
            with pytest.raises(TrialInvalid, match="tells no events"):
                await trial.events("c")

    asyncio.run(run())


def test_a_file_is_read_or_named_with_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK.data))
    assert recorded_conversation(path) == RecordedConversation(path.as_posix(), TALK.data)
    path.write_text("[")
    with pytest.raises(RecordedUnreadable, match=r"talk\.json: is not JSON"):
        recorded_conversation(path)
    path.write_bytes(b"\xff\xff")
    with pytest.raises(RecordedUnreadable, match=r"talk\.json: is not JSON"):
        recorded_conversation(path)
    with pytest.raises(RecordedUnreadable, match=r"other\.json: cannot be read: No such file"):
        recorded_conversation(tmp_path / "other.json")
