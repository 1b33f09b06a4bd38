"""An exported conversation: all that a fork would copy, nothing that says whose it was, or no document at all."""

from __future__ import annotations

import json
import typing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import HandClock
from recorded_bench import CONVERSATION, begun, inbound, write_conversation
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.accounts import save_account
from bosun.context.sources import AccountSnapshot
from bosun.export.exporting import BEGINNING, ConversationMissing, ExportRefused, export_conversation
from bosun.export.fields import FIELDS
from bosun.export.writing import document_text, told, write_document
from bosun.ids import DerivedIds
from bosun.log.copies import COPIED
from bosun.log.forks import Forks
from bosun.log.messages import ConversationRecord
from bosun.log.reading import ConversationReader
from bosun.log.recorded import read_recorded
from bosun.log.store import ConversationLog

pytestmark = pytest.mark.asyncio


async def exported(engine: AsyncEngine) -> Any:
    """Return the document as somebody finds it."""
    return json.loads(document_text(await export_conversation(engine, CONVERSATION)))


async def test_it_has_the_rows_of_a_fork_and_tells_what_it_has_not(
    engine: AsyncEngine, log: ConversationLog, reader: ConversationReader, clock: HandClock
) -> None:
    """In their order, each of them readable again."""
    await write_conversation(log, clock)
    document = await exported(engine)
    recorded = read_recorded(document)
    events = await reader.events(CONVERSATION)
    end = max(event.seq for event in events if event.payload.type == "turn_completed")
    kept = [
        event
        for event in events[:end]
        if event.payload.type not in ("turn_context", "turn_paused", "title", "guardian_action_reviewed")
    ]
    assert [row.payload.type for row in recorded.rows] == [event.payload.type for event in kept]
    assert document["removed"] == {
        "guardian_action_reviewed": 1,
        "message of what was not over": 2,
        "title": 1,
        "turn_context": 6,
        "turn_paused": 1,
        "turn_started of what was not over": 1,
        "user_message of what was not over": 1,
    }
    said = [row["payload"]["text"] for row in document["rows"] if row["type"] == "message"]
    assert said == [
        *("Remember that Kim is at address-1@example.com.", "Kept, Morgan.", "Who is Kim?", "And where?"),
        *("Kim is at address-1@example.com.", "Tell me more.", "And then?", "I stopped.", "Well?"),
        *("The model took too long.", "Thanks, Kim."),
    ]
    (call,) = (row["payload"]["tool_calls"][0] for row in document["rows"] if row["payload"].get("tool_calls"))
    assert call == {"id": "tool_call-1", "name": "remember", "arguments": '{"text": "Kim is at address-1@example.com"}'}
    assert (document["began_by"], document["people"]) == ("morgan", {"kim": "Kim", "morgan": "Morgan"})


async def test_nothing_of_the_original_is_in_it(engine: AsyncEngine, log: ConversationLog, clock: HandClock) -> None:
    """No id, no name, no address, no time."""
    await write_conversation(log, clock)
    text = document_text(await export_conversation(engine, CONVERSATION))
    for word in ("anna", "schmidt", "ben", "corp", "acct-77", CONVERSATION, "turn:", "message:message:", "2030-01-15"):
        assert word not in text.lower()
    at = [row["at"] for row in json.loads(text)["rows"]]
    assert at[0] == BEGINNING.isoformat().replace("+00:00", "Z")
    assert at == sorted(at)


async def test_times_keep_their_distances(engine: AsyncEngine, log: ConversationLog, clock: HandClock) -> None:
    """From a beginning that is always the same."""
    await write_conversation(log, clock)
    times = [row.created_at for row in read_recorded(await exported(engine)).rows]
    beginnings = [timedelta(seconds=seconds) for seconds in (0, 61.5, 63, 64.5, 66)]
    assert [time - BEGINNING for time in dict.fromkeys(times) if time is not None] == beginnings


async def test_the_account_of_the_conversation_is_replaced(
    engine: AsyncEngine, log: ConversationLog, clock: HandClock
) -> None:
    """Its name, and its projects'."""
    snapshot = AccountSnapshot(
        display_name="Harbor Goods", plan="active", projects=("Blue Heron",), updated_at=clock.now()
    )
    await save_account(engine, "acct-77", snapshot)
    await write_conversation(log, clock)
    fresh = inbound("10", "Does Harbor Goods run Blue Heron?", clock)
    await log.commit_stop(CONVERSATION, [], "I stopped.")
    await log.commit_reply(await begun(log, clock, fresh), "Harbor Goods does.")
    said = [row["payload"]["text"] for row in (await exported(engine))["rows"] if row["type"] == "message"]
    assert said[-2:] == ["Does Company 1 run Project 1?", "Company 1 does."]


async def test_the_same_conversation_is_the_same_bytes(
    engine: AsyncEngine, log: ConversationLog, clock: HandClock, tmp_path: Path
) -> None:
    """Also in a file, in whose place nothing else is left."""
    await write_conversation(log, clock)
    one, other = [document_text(await export_conversation(engine, CONVERSATION)) for _ in range(2)]
    write_document(await export_conversation(engine, CONVERSATION), tmp_path / "out.json")
    assert one == other == (tmp_path / "out.json").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


async def test_the_export_of_a_fork_is_the_export_of_its_source(
    engine: AsyncEngine, log: ConversationLog, clock: HandClock
) -> None:
    """What a fork leaves out, an export leaves out too."""
    await write_conversation(log, clock)
    last = (await ConversationReader(engine).events(CONVERSATION))[-1]
    forks = Forks(engine, clock=clock, ids=DerivedIdsOnly())
    (answer,) = [
        event.payload.model_dump()["message_id"]
        for event in await ConversationReader(engine).events(CONVERSATION, before=last.seq)
        if event.payload.model_dump().get("text") == "The model took too long."
    ]
    fork = await forks.fork(CONVERSATION, "f", answer, "anna")
    assert fork is not None
    source, copy = (
        await exported(engine),
        json.loads(document_text(await export_conversation(engine, fork.conversation_id))),
    )
    assert copy["rows"] == source["rows"][: len(copy["rows"])]
    assert len(copy["rows"]) == len(source["rows"]) - 6


class DerivedIdsOnly(DerivedIds):
    """Ids that make no secret."""

    def nonce(self, parent: str, kind: str) -> str:
        """Nobody asks."""
        raise NotImplementedError


async def test_what_still_looks_like_a_credential_is_refused_with_its_place(
    engine: AsyncEngine, log: ConversationLog, clock: HandClock
) -> None:
    """And is not shown."""
    await write_conversation(log, clock)
    await log.commit_stop(CONVERSATION, [], "I stopped.")
    random = "q7Zp2Lw9Xk4Vb8Nm3Rt6Yd1" + "Gh5Jf0"
    turn = await begun(log, clock, inbound("10", f"It is {random}, I think.", clock))
    await log.commit_reply(turn, "I see.")
    with pytest.raises(ExportRefused) as refused:
        await export_conversation(engine, CONVERSATION)
    assert random not in str(refused.value)
    assert "payload.text (29 characters)" in str(refused.value)


async def test_without_a_turn_that_is_over_there_is_no_document(
    engine: AsyncEngine, log: ConversationLog, clock: HandClock
) -> None:
    """Nor without a conversation."""
    with pytest.raises(ConversationMissing, match="there is no conversation 'web:none'"):
        await export_conversation(engine, "web:none")
    await write_conversation(log, clock)
    only = inbound("1", "Hello", clock).model_copy(update={"id": "m"})
    await log.open_conversation(ConversationRecord(id="web:open", account_id="a", actor_id="anna"))
    await log.accept_message("web:open", only)
    await log.start_turn("web:open", [only])
    with pytest.raises(ExportRefused, match="nothing to export"):
        await export_conversation(engine, "web:open")


async def test_it_is_said_of_every_field_how_it_is_replaced() -> None:
    """A new one cannot be exported before somebody has thought of it."""
    assert set(FIELDS) == {payload.type for payload in COPIED}
    for payload in COPIED:
        assert set(FIELDS[payload.type]) == set(payload.model_fields)
        for field, info in payload.model_fields.items():
            words = info.annotation is str or typing.get_args(info.annotation) == (str, type(None))
            free = words and field not in ("kind", "name", "source")
            assert not free or FIELDS[payload.type][field] != "kept"


async def test_whoever_exports_is_told_what_was_done(
    engine: AsyncEngine, log: ConversationLog, clock: HandClock
) -> None:
    """And that somebody has to read it."""
    await write_conversation(log, clock)
    said = told(await export_conversation(engine, CONVERSATION))
    assert said.startswith("exported 5 turn(s) in ")
    assert "1 title" in said
    assert "2 person" in said
    assert said.endswith("read what was said before you pass it on.")
