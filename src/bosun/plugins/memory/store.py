"""Memories as stored: kept once each, found by their words, seen only by those whom they are for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import cast, func, literal, or_, select
from sqlalchemy.dialects.postgresql import REGCONFIG, TSQUERY, insert
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.stores.tables import memories
from bosun.text import storable

TEAM: Final = None
"""The subject of a memory that everybody of the account may see. It is no text, so that no actor's id can equal it."""

LONGEST_MEMORY: Final = 300
"""Characters."""
LONGEST_QUERY: Final = 20_000
"""How many characters of a query are looked at."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One memory; `subject` is the actor that it is for, or `TEAM`."""

    id: str
    subject: str | None
    text: str
    created_at: datetime


class MemoryUnfit(ValueError):
    """A text cannot be kept as a memory; the message says why."""


class MemoryStore:
    """Keeps and finds memories."""

    def __init__(self, engine: AsyncEngine, *, clock: Clock, ids: IdSource) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    async def remember(
        self, *, account_id: str, subject: str | None, author_id: str, text: str, conversation_id: str | None = None
    ) -> str:
        """Keep a text, as one line, for a subject of an account, and return its id.

        The same text for the same subject is kept once; the first author, conversation and time stay. Raises
        `MemoryUnfit`.
        """
        line = " ".join(storable(text).split())
        if not line:
            raise MemoryUnfit("there is no text to keep")
        if len(line) > LONGEST_MEMORY:
            raise MemoryUnfit(f"the text has {len(line)} characters, and {LONGEST_MEMORY} can be kept")
        memory_id = self._ids.derive(account_id, "memory", json.dumps([subject, line]))
        row = {
            "id": memory_id,
            "account_id": account_id,
            "subject": subject,
            "author_id": author_id,
            "text": line,
            "conversation_id": conversation_id,
            "created_at": self._clock.now(),
        }
        async with self._engine.begin() as connection:
            await connection.execute(insert(memories).values(row).on_conflict_do_nothing())
        return memory_id

    async def search(self, account_id: str, actor_id: str, query: str, limit: int) -> tuple[Memory, ...]:
        """Return what has any of the query's words and is for the actor or the team, the best match first.

        Words are compared by their English stems; words such as "the" find nothing. Of equal matches the newest is
        first.
        """
        english = literal("english", REGCONFIG)
        words = select(func.tsvector_to_array(func.to_tsvector(english, storable(query[:LONGEST_QUERY]))))
        async with self._engine.connect() as connection:
            stems: list[str] = (await connection.execute(words)).scalar_one()
            if not stems:
                return ()
            any_word = cast(" | ".join(_quoted(stem) for stem in stems), TSQUERY)
            matches = (
                select(memories.c.id, memories.c.subject, memories.c.text, memories.c.created_at)
                .where(
                    memories.c.account_id == account_id,
                    or_(memories.c.subject == actor_id, memories.c.subject.is_(TEAM)),
                    memories.c.words.bool_op("@@")(any_word),
                )
                .order_by(func.ts_rank(memories.c.words, any_word).desc(), memories.c.created_at.desc(), memories.c.id)
                .limit(limit)
            )
            found = (await connection.execute(matches)).all()
        return tuple(Memory(id=row.id, subject=row.subject, text=row.text, created_at=row.created_at) for row in found)


def _quoted(stem: str) -> str:
    """Write a stem as a word of a tsquery: https://www.postgresql.org/docs/current/datatype-textsearch.html."""
    return "'" + stem.replace("\\", "\\\\").replace("'", "''") + "'"
