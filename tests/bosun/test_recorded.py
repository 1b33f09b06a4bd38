"""A recorded conversation is loaded whole, as it is, or not at all; and it can be forked and go on as any other."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import pytest_asyncio
from conftest import CountedIds, HandClock
from recorded_bench import CONVERSATION, write_conversation
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.export.exporting import BEGINNING, export_conversation
from bosun.export.writing import document_text
from bosun.ids import derive
from bosun.log.events import Event, MessageHandled, TurnStarted, VisibleMessage
from bosun.log.forks import Forks
from bosun.log.loading import RecordedLoader
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.reading import ConversationReader, events_until
from bosun.log.recorded import RecordedInvalid, read_recorded
from bosun.log.store import ConversationLog
from bosun.stores.tables import conversation_events, conversations

pytestmark = pytest.mark.asyncio

LOADED = ConversationRecord(id="web:loaded", account_id="standard", actor_id="morgan")


@pytest.fixture
def loader(engine: AsyncEngine, clock: HandClock, ids: CountedIds) -> RecordedLoader:
    """The loader."""
    return RecordedLoader(engine, clock=clock, ids=ids)


@pytest_asyncio.fixture
async def document(engine: AsyncEngine, log: ConversationLog, clock: HandClock) -> Any:
    """A conversation that was written, exported and written down."""
    await write_conversation(log, clock)
    return json.loads(document_text(await export_conversation(engine, CONVERSATION)))


async def rows_of(engine: AsyncEngine, conversation_id: str) -> list[tuple[str, Event]]:
    """Return a conversation's rows with their keys."""
    async with engine.connect() as connection:
        return list(await events_until(connection, conversation_id, 10_000))


def as_document(rows: Sequence[tuple[str, Event]]) -> list[dict[str, Any]]:
    """Return rows as a document has them."""
    return [
        {
            "key": key,
            "type": event.payload.type,
            "schema_version": 1,
            "at": event.created_at.isoformat().replace("+00:00", "Z"),
            "payload": event.payload.model_dump(mode="json"),
        }
        for key, event in rows
    ]


async def test_rows_are_loaded_as_they_are(engine: AsyncEngine, loader: RecordedLoader, document: Any) -> None:
    """Keys, names, payloads and times; once."""
    recorded = read_recorded(document)
    assert await loader.begin(LOADED, recorded)
    assert not await loader.begin(LOADED, recorded)
    rows = await rows_of(engine, LOADED.id)
    assert as_document(rows) == document["rows"]
    assert [event.seq for _, event in rows] == list(range(1, len(rows) + 1))


async def test_the_export_of_what_was_loaded_is_the_document(
    engine: AsyncEngine, loader: RecordedLoader, document: Any
) -> None:
    """A second hand changes nothing but the counts of what was taken out."""
    await loader.begin(LOADED, read_recorded(document))
    again = json.loads(document_text(await export_conversation(engine, LOADED.id)))
    assert again["rows"] == document["rows"]
    assert (again["people"], again["began_by"], again["removed"]) == (document["people"], document["began_by"], {})


async def test_a_loaded_conversation_goes_on(
    log: ConversationLog, reader: ConversationReader, loader: RecordedLoader, clock: HandClock, document: Any
) -> None:
    """Its turns are counted on, under names of their own."""
    await loader.begin(LOADED, read_recorded(document))
    assert await reader.open_turn(LOADED.id) is None
    said = InboundMessage(id="m", actor_id="morgan", author="Morgan", text="Well?", received_at=clock.now())
    turn = await log.start_turn(LOADED.id, [said])
    assert (turn.ordinal, turn.id) == (6, derive(LOADED.id, "turn", 6))
    assert await log.commit_reply(turn, "Yes.")
    assert [message.text for message in await reader.history(LOADED.id)][-2:] == ["Well?", "Yes."]


async def test_one_document_can_follow_itself(
    engine: AsyncEngine, log: ConversationLog, loader: RecordedLoader, clock: HandClock, document: Any
) -> None:
    """Each time under other names; the export of both is the document twice."""
    recorded = read_recorded(document)
    await loader.begin(LOADED, recorded)
    await loader.append(LOADED.id, recorded, "first")
    await loader.append(LOADED.id, recorded, "second")
    rows = [event.payload for _, event in await rows_of(engine, LOADED.id)]
    turns = [payload for payload in rows if isinstance(payload, TurnStarted)]
    assert [turn.ordinal for turn in turns] == list(range(1, 16))
    assert len({turn.turn_id for turn in turns}) == 15
    said = [payload.text for payload in rows if isinstance(payload, VisibleMessage)]
    assert said == said[: len(said) // 3] * 3
    said_next = InboundMessage(id="m", actor_id="morgan", author="Morgan", text="Well?", received_at=clock.now())
    assert (await log.start_turn(LOADED.id, [said_next])).ordinal == 16
    with pytest.raises(RecordedInvalid, match="a turn that is not over"):
        await loader.append(LOADED.id, recorded, "third")
    assert len(await rows_of(engine, LOADED.id)) == len(rows) + 2


async def test_a_fork_at_each_reply_has_the_rows_up_to_the_end_of_its_turn(
    engine: AsyncEngine, loader: RecordedLoader, clock: HandClock, document: Any
) -> None:
    """All of them, in their order and of their times, under the fork's names."""
    await loader.begin(LOADED, read_recorded(document))
    await forks_at_each_reply(engine, clock, LOADED.id, document)


async def forks_at_each_reply(engine: AsyncEngine, clock: HandClock, conversation_id: str, document: Any) -> None:
    """Fork at each reply, and compare with the document cut off by hand after that reply's turn."""
    forks = Forks(engine, clock=clock, ids=CountedIds())
    replies = [
        (number, row["payload"])
        for number, row in enumerate(document["rows"])
        if row["type"] == "message" and row["payload"]["role"] == "assistant"
    ]
    assert replies
    for place, reply in replies:
        fork = await forks.fork(conversation_id, reply["message_id"], reply["message_id"], "morgan")
        assert fork is not None and fork.new
        cut = document["rows"][: end_of_turn(document["rows"], place) + 1]
        over = {row["payload"]["message_id"] for row in cut if row["type"] == "message_handled"}
        kept = [row for row in cut if row["type"] != "message" or waits_not(row["payload"], over)]
        assert as_document(await rows_of(engine, fork.conversation_id)) == under_names_of(fork.conversation_id, kept)


def end_of_turn(rows: list[Any], place: int) -> int:
    """Return where the turn of a row ends."""
    turn = rows[place]["payload"]["turn_id"]
    ends = ("turn_completed", "turn_failed")
    return next(n for n, row in enumerate(rows) if row["type"] in ends and row["payload"]["turn_id"] == turn)


def waits_not(message: Any, over: set[str]) -> bool:
    """Tell whether a message is Bosun's, or was done with."""
    return message["role"] == "assistant" or message["message_id"] in over


def under_names_of(fork_id: str, rows: list[Any]) -> list[Any]:
    """Return rows with each of the document's names replaced, wherever it stands, by what it becomes in the fork."""
    words = json.dumps(rows)
    names = {
        word: derive(fork_id, kind, word)
        for kind in ("message", "turn", "tool_call")
        for word in (f"{kind}-{number}" for number in range(len(rows), 0, -1))
    }
    for word, name in names.items():
        for before in ('"', ":"):
            for after in ('"', ":"):
                words = words.replace(f"{before}{word}{after}", f"{before}{name}{after}")
    return list(json.loads(words))


# --- what is no document

Damage = Callable[[Any], Any]


def changed(**changes: Any) -> Damage:
    """Return the document with other values."""
    return lambda document: {**document, **changes}


def row(number: int, **changes: Any) -> Damage:
    """Return the document with another row."""

    def damage(document: Any) -> Any:
        document["rows"][number].update(changes)
        return document

    return damage


def payload(number: int, **changes: Any) -> Damage:
    """Return the document with another payload."""

    def damage(document: Any) -> Any:
        document["rows"][number]["payload"].update(changes)
        return document

    return damage


def without(number: int) -> Damage:
    """Return the document without one row."""

    def damage(document: Any) -> Any:
        del document["rows"][number]
        return document

    return damage


def twice(number: int) -> Damage:
    """Return the document with one row twice."""

    def damage(document: Any) -> Any:
        document["rows"].insert(number, copy.deepcopy(document["rows"][number]))
        return document

    return damage


def swapped(document: Any) -> Any:
    """Return the document with what a turn heard before the turn began."""
    document["rows"][1:3] = reversed(document["rows"][1:3])
    return document


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda document: [], "its 'format' is not 'bosun.conversation'"),
        (changed(format="other"), "its 'format' is not 'bosun.conversation'"),
        (changed(version=2), "it has version 2; this Bosun reads 1: export the conversation again"),
        (changed(people=[]), "people: Input should be"),
        (changed(extra=1), "extra: Extra inputs"),
        (changed(rows=[]), "it has no rows"),
        (changed(began_by="nobody"), "began_by: 'nobody' is none of 'people'"),
        (changed(people={"morgan": "Morgan"}), "'kim' is none of 'people'"),
        (row(0, at="2030-01-01T00:00:00"), "rows[0].at: "),
        (row(0, payload=1), "rows[0].payload: "),
        (row(0, schema_version=7), "rows[0]: event 1 (message) of conversation 'recorded' is corrupt"),
        (row(0, type="turn_context"), "is corrupt"),
        (row(0, type="later_invention"), "rows[0]: a row of type 'later_invention' is no history"),
        (
            row(0, type="title", payload={"title": "T", "usage": {}}),
            "rows[0]: a row of type 'title' is no history",
        ),
        (payload(0, text=None), "rows[0]: event 1 (message) of conversation 'recorded' is corrupt: text"),
        (payload(0, message_id="other"), "rows[2]: it is about 'message-1' before that is there"),
        (row(0, key="message"), "which is no message, turn or call of the document"),
        (row(0, key="message:turn-1"), "rows[0]: the key 'message:turn-1' names nothing that the row is about"),
        (payload(1, ordinal=3), "rows[1]: turn 3 stands where turn 1 should"),
        (without(-1), "it is of a turn or a message that the document does not end"),
        (twice(3), "rows[4]: the key"),
        (swapped, "rows[1]: it is about 'turn-1' before that is there"),
    ],
)
async def test_what_cannot_have_happened_is_refused_and_leaves_nothing(
    engine: AsyncEngine, document: Any, damage: Damage, told: str
) -> None:
    """With words that say where."""
    with pytest.raises(RecordedInvalid) as refused:
        read_recorded(damage(document))
    assert told in str(refused.value)


async def test_every_mistake_is_told_at_once(document: Any) -> None:
    """One reading is enough."""
    document["rows"][0]["payload"]["text"] = 1
    document["rows"][2]["type"] = "invented"
    with pytest.raises(RecordedInvalid) as refused:
        read_recorded(document)
    assert [mistake.partition(":")[0] for mistake in refused.value.mistakes] == ["rows[0]", "rows[2]"]


async def test_what_ends_after_now_is_not_loaded(
    engine: AsyncEngine, loader: RecordedLoader, clock: HandClock, document: Any
) -> None:
    """Nothing is, and nothing was made for it."""
    await loader.begin(LOADED, read_recorded(document))
    clock.at = BEGINNING
    other = LOADED.model_copy(update={"id": "web:other"})
    with pytest.raises(RecordedInvalid, match="which is after now"):
        await loader.begin(other, read_recorded(document))
    with pytest.raises(RecordedInvalid, match="which is after now"):
        await loader.append(LOADED.id, read_recorded(document), "k")
    async with engine.connect() as connection:
        made = select(func.count()).select_from(conversations).where(conversations.c.id == other.id)
        assert (await connection.execute(made)).scalar_one() == 0
        rows = select(func.count()).where(conversation_events.c.conversation_id == LOADED.id)
        assert (await connection.execute(rows)).scalar_one() == len(document["rows"])


async def test_a_message_that_was_discarded_is_handled_by_no_turn(
    engine: AsyncEngine, loader: RecordedLoader, document: Any
) -> None:
    """Also when it was loaded."""
    await loader.begin(LOADED, read_recorded(document))
    handled = [event.payload for _, event in await rows_of(engine, LOADED.id)]
    discarded = [each for each in handled if isinstance(each, MessageHandled) and each.turn_id is None]
    assert len(discarded) == 1
