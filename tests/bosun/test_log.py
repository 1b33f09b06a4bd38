"""The log: gapless, append-only, each thing once, whatever crashes or runs at the same time."""

from __future__ import annotations

import asyncio

import pytest
from conftest import START, HandClock
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.log.events import NO_REPLY, CorruptEvent, Opaque, TokenUsage
from bosun.log.messages import ConversationRecord, HistoryMessage, InboundMessage
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.log.writing import ConversationUnknown

pytestmark = pytest.mark.asyncio

CONVERSATION = ConversationRecord(id="web:c", account_id="standard", actor_id="morgan")


def message(key: str, text: str = "When is the budget due?", actor: str = "morgan") -> InboundMessage:
    """Return a message as a route makes it."""
    return InboundMessage(id=f"message:{key}", actor_id=actor, author=actor.title(), text=text, received_at=START)


async def types(reader: ConversationReader) -> list[str]:
    """Return the types of the conversation's rows, in order."""
    return [event.payload.type for event in await reader.events("web:c")]


async def test_a_turn_writes_its_rows_in_one_known_order(log: ConversationLog, reader: ConversationReader) -> None:
    """The order in which a host loads history, too."""
    assert await log.open_conversation(CONVERSATION)
    assert await log.accept_message("web:c", message("1"))
    turn = await log.start_turn("web:c", [message("1")])
    await log.record_context(turn, 1, ["account"], {"steps": 1})
    assert await log.commit_reply(turn, "On Friday.", {"agent": TokenUsage(input_tokens=9)})
    assert await types(reader) == [
        "message",
        "turn_started",
        "user_message",
        "turn_context",
        "message",
        "assistant_message",
        "message_handled",
        "turn_completed",
    ]
    assert [event.seq for event in await reader.events("web:c")] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert await reader.history("web:c") == (
        HistoryMessage(role="user", text="When is the budget due?", author="Morgan"),
        HistoryMessage(role="assistant", text="On Friday."),
    )


async def test_loaded_history_has_a_turns_rows_without_its_context(
    log: ConversationLog, reader: ConversationReader
) -> None:
    """By the same functions, so by the same rows."""
    await log.open_conversation(CONVERSATION)
    for key in ("1", "2"):
        await log.accept_message("web:c", message(key))
        await log.commit_reply(await log.start_turn("web:c", [message(key)]), "Noted.")
    one = [
        "message",
        "turn_started",
        "user_message",
        "message",
        "assistant_message",
        "message_handled",
        "turn_completed",
    ]
    assert await types(reader) == one * 2
    assert (await log.start_turn("web:c", [message("3")])).ordinal == 3


async def test_nothing_is_written_twice(log: ConversationLog, reader: ConversationReader) -> None:
    """Each step of a turn may be repeated after a crash."""
    assert await log.open_conversation(CONVERSATION)
    assert not await log.open_conversation(CONVERSATION)
    assert await log.accept_message("web:c", message("1"))
    assert not await log.accept_message("web:c", message("1"))
    turn = await log.start_turn("web:c", [message("1")])
    await log.record_context(turn, 1, ["account"], {})
    await log.record_context(turn, 1, ["account"], {})
    assert await log.commit_reply(turn, "On Friday.")
    assert not await log.commit_reply(turn, "On Friday!")
    assert not await log.commit_no_reply(turn)
    assert not await log.commit_failure(turn, "timeout", "Too late.")
    assert len(await types(reader)) == 8
    assert await reader.handled("web:c", ["message:1", "message:2"]) == {"message:1"}


async def test_an_open_turn_is_taken_up_and_later_messages_join_it(
    log: ConversationLog, reader: ConversationReader
) -> None:
    """After a crash there is one turn and one answer for all."""
    await log.open_conversation(CONVERSATION)
    first = await log.start_turn("web:c", [message("1")])
    again = await log.start_turn("web:c", [message("1"), message("2", "And who needs it?")])
    assert (again.id, again.ordinal) == (first.id, 1)
    assert again.message_ids == ("message:1", "message:2")
    await log.commit_reply(again, "Morgan, on Friday.")
    assert await reader.handled("web:c", ["message:1", "message:2"]) == {"message:1", "message:2"}
    assert [said.text for said in await reader.history("web:c") if said.role == "user"] == [
        "When is the budget due?",
        "And who needs it?",
    ]


async def test_two_that_end_one_turn_at_once_deliver_once(log: ConversationLog, reader: ConversationReader) -> None:
    """A worker that lost its lease may still be thinking."""
    await log.open_conversation(CONVERSATION)
    turn = await log.start_turn("web:c", [message("1")])
    results = await asyncio.gather(*(log.commit_reply(turn, f"Answer {number}") for number in range(5)))
    assert sorted(results) == [False, False, False, False, True]
    assert (await types(reader)).count("assistant_message") == 1


async def test_writers_at_the_same_time_leave_no_gap(log: ConversationLog, reader: ConversationReader) -> None:
    """The conversation's row is the lock."""
    await log.open_conversation(CONVERSATION)
    await asyncio.gather(*(log.accept_message("web:c", message(str(number))) for number in range(20)))
    assert [event.seq for event in await reader.events("web:c")] == list(range(1, 21))


async def test_a_silence_and_a_failure_end_a_turn_too(log: ConversationLog, reader: ConversationReader) -> None:
    """A failure is visible and is no word of the model."""
    await log.open_conversation(CONVERSATION)
    await log.commit_no_reply(await log.start_turn("web:c", [message("1")]))
    await log.commit_failure(await log.start_turn("web:c", [message("2")]), "timeout", "Too late.")
    assert (await types(reader)) == [
        *("turn_started", "user_message", "assistant_message", "message_handled", "turn_completed"),
        *("turn_started", "user_message", "message", "message_handled", "turn_failed"),
    ]
    assert [said.text for said in await reader.history("web:c")] == [
        "When is the budget due?",
        NO_REPLY,
        "When is the budget due?",
    ]


async def test_a_stop_is_told_to_the_model_as_people_see_it(log: ConversationLog, reader: ConversationReader) -> None:
    """Not as a silence that the model chose: it would go on being silent."""
    await log.open_conversation(CONVERSATION)
    await log.start_turn("web:c", [message("1")])
    assert await log.commit_stop("web:c", [message("1")], "I stopped.") is not None
    assert [said.text for said in await reader.history("web:c")] == ["When is the budget due?", "I stopped."]


async def test_a_conversation_has_one_title(log: ConversationLog, reader: ConversationReader) -> None:
    """The first stays."""
    await log.open_conversation(CONVERSATION)
    assert await log.set_title("web:c", "Budget")
    assert not await log.set_title("web:c", "Friday")
    found = await reader.conversation("web:c")
    assert found is not None and found.title == "Budget"


async def test_the_first_message_of_a_person_is_the_first(log: ConversationLog, reader: ConversationReader) -> None:
    """Bosun's own do not count."""
    await log.open_conversation(CONVERSATION)
    assert await reader.first_human_message("web:c") is None
    await log.commit_reply(await log.start_turn("web:c", [message("0")]), "Hello.")
    await log.accept_message("web:c", message("1"))
    await log.accept_message("web:c", message("2"))
    first = await reader.first_human_message("web:c")
    assert first is not None and first.message_id == "message:1"


async def test_rows_are_read_backwards_in_pages(log: ConversationLog, reader: ConversationReader) -> None:
    """Each page in the log's order."""
    await log.open_conversation(CONVERSATION)
    for number in range(1, 6):
        await log.accept_message("web:c", message(str(number)))
    assert [event.seq for event in await reader.events("web:c", limit=2)] == [4, 5]
    assert [event.seq for event in await reader.events("web:c", before=4, limit=2)] == [2, 3]
    assert [event.seq for event in await reader.events("web:c", before=2, limit=2)] == [1]


async def test_times_are_the_clocks(log: ConversationLog, reader: ConversationReader, clock: HandClock) -> None:
    """Never the database server's."""
    await log.open_conversation(CONVERSATION)
    clock.advance(3600)
    await log.accept_message("web:c", message("1"))
    found = await reader.conversation("web:c")
    assert found is not None and found.created_at == START
    assert (await reader.events("web:c"))[0].created_at == clock.at


async def test_nothing_is_written_to_a_conversation_that_was_never_opened(log: ConversationLog) -> None:
    """The error names it."""
    with pytest.raises(ConversationUnknown, match="web:c"):
        await log.accept_message("web:c", message("1"))


async def test_stored_rows_are_decoded_or_refused(
    log: ConversationLog, reader: ConversationReader, engine: AsyncEngine
) -> None:
    """An unknown type is kept, a corrupt one is loud."""
    await log.open_conversation(CONVERSATION)
    await log.accept_message("web:c", message("1"))
    await log.accept_message("web:c", message("2"))
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE conversation_events SET type = 'later_type' WHERE seq = 1"))
    assert isinstance((await reader.events("web:c"))[0].payload, Opaque)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE conversation_events SET payload = payload - 'text' WHERE seq = 2"))
    with pytest.raises(CorruptEvent, match="event 2"):
        await reader.events("web:c")
