"""One conversation of a store, as a document that can leave the house once somebody has read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.export.fields import cleaned, person
from bosun.export.patterns import suspicious
from bosun.export.placeholders import Placeholders, display_name
from bosun.export.texts import Known, Person, Texts
from bosun.log.copies import history_rows, new_names, renamed
from bosun.log.events import EVENT_SCHEMA, Event, Payload
from bosun.log.reading import events_until
from bosun.log.recorded import BOSUN, FORMAT, VERSION, RecordedDocument, RowWords
from bosun.log.writing import NewEvent
from bosun.stores.tables import accounts, conversations, identities, projects

BEGINNING: Final = datetime(2030, 1, 1, tzinfo=UTC)
"""When every exported conversation begins."""

NOTE: Final = (
    "Names, ids, addresses, links and numbers are replaced. A replaced name is not anonymity: "
    "read what was said before you pass it on."
)


class ConversationMissing(LookupError):
    """There is no conversation to export."""

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"there is no conversation '{conversation_id}': its id is the last part of its address on the web, and "
            "'conversationId' in the answer to its first message"
        )


class ExportRefused(Exception):
    """The conversation is not exported; the message says where and why, and never what stands there."""


async def export_conversation(engine: AsyncEngine, conversation_id: str) -> RecordedDocument:
    """Return a conversation's history without anything that says whose it was.

    Raises `ConversationMissing`, `ExportRefused`, `FieldUnknown`, and `CorruptEvent` where a row cannot be read.
    """
    async with engine.connect() as connection:
        record = select(conversations).where(conversations.c.id == conversation_id)
        conversation = (await connection.execute(record)).one_or_none()
        if conversation is None:
            raise ConversationMissing(conversation_id)
        stored = await events_until(connection, conversation_id, conversation.last_seq)
        known = await _known(connection, conversation_id, conversation.account_id, stored)
    return document_of(conversation.actor_id, stored, known)


def document_of(began_by: str, stored: Sequence[tuple[str, Event]], known: Known) -> RecordedDocument:
    """Return the document of rows, each with its key. Raises `ExportRefused` and `FieldUnknown`."""
    rows = history_rows(stored)
    if not rows:
        raise ExportRefused("the conversation has no turn that is over: there is nothing to export")
    placeholders = Placeholders()
    texts = Texts(known, placeholders)
    starter = person(began_by, placeholders)
    names = new_names([row.payload for row in rows], placeholders.of)
    beginning = rows[0].created_at or BEGINNING
    made = [_row(renamed(row, names), beginning, texts, placeholders) for row in rows]
    people = sorted({starter, *_people(made)})
    document = RecordedDocument(
        format=FORMAT,
        version=VERSION,
        note=NOTE,
        removed=_removed(stored, rows),
        replaced=placeholders.counts,
        began_by=starter,
        people={each: display_name(each) for each in people},
        rows=made,
    )
    _refuse_what_is_left(document)
    return document


def _row(row: NewEvent, beginning: datetime, texts: Texts, placeholders: Placeholders) -> RowWords:
    since = timedelta(milliseconds=((row.created_at or beginning) - beginning) // timedelta(milliseconds=1))
    payload = cleaned(row.payload, texts, placeholders)
    return RowWords(
        key=row.key,
        type=payload.type,
        schema_version=EVENT_SCHEMA,
        at=BEGINNING + since,
        payload=payload.model_dump(mode="json", by_alias=False),
    )


def _people(rows: Sequence[RowWords]) -> Iterator[str]:
    for row in rows:
        for field in ("author_id", "actor_id"):
            value = row.payload.get(field)
            if isinstance(value, str) and value != BOSUN:
                yield value


def _removed(stored: Sequence[tuple[str, Event]], kept: Sequence[NewEvent]) -> dict[str, int]:
    """Count what is not in the document, by the rows' type; what is of a turn that is not over is told apart."""
    left = {row.key for row in kept}
    whole = {row.payload.type for row in kept}
    counts: Counter[str] = Counter()
    for key, event in stored:
        if key in left:
            continue
        type_ = event.payload.type if isinstance(event.payload, Payload) else "of a type that is not known"
        counts[f"{type_} of what was not over" if type_ in whole else type_] += 1
    return dict(sorted(counts.items()))


def _refuse_what_is_left(document: RecordedDocument) -> None:
    """Search everything that will be written once more, for what still looks like a credential."""
    places = dict.fromkeys(
        f"{place} ({len(found)} characters)"
        for place, text in _strings(document.model_dump(mode="json"), "")
        for found in suspicious(text)
    )
    if places:
        raise ExportRefused(
            f"something in it looks like a credential: {', '.join(places)}. "
            "Nothing was written: such a conversation cannot be exported"
        )


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield f"a key of {place or 'the document'}", key
            yield from _strings(each, f"{place}.{key}".removeprefix("."))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _strings(each, f"{place}[{number}]")


async def _known(
    connection: AsyncConnection, conversation_id: str, account_id: str, stored: Sequence[tuple[str, Event]]
) -> Known:
    """Return the names that the store has: of the account, its projects and people, and of whoever wrote."""
    of_account = select(accounts.c.display_name).where(accounts.c.id == account_id)
    company = (await connection.execute(of_account)).scalar_one_or_none()
    work = select(projects.c.name).where(projects.c.account_id == account_id).order_by(projects.c.position)
    people = select(identities.c.id, identities.c.display_name).where(identities.c.account_id == account_id)
    wrote = [
        Person(author_id, str(getattr(event.payload, "author", "")))
        for _, event in stored
        if isinstance(author_id := getattr(event.payload, "author_id", None), str) and author_id != BOSUN
    ]
    others = (await connection.execute(people.order_by(identities.c.created_at, identities.c.id))).all()
    return Known(
        people=tuple(dict.fromkeys([*wrote, *(Person(row.id, row.display_name) for row in others)])),
        companies=() if company is None or company == account_id else (company,),
        projects=tuple((await connection.execute(work)).scalars()),
        ids=(conversation_id, account_id),
    )
