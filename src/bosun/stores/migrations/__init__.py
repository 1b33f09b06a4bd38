"""Schema migrations, packaged: no configuration file is needed to run them.

Only `migrate` imports Alembic, which is slow to import. An app merely compares `SCHEMA_HEAD` with the
database.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

SCHEMA_HEAD: Final = "0005"
"""The revision this Bosun was written for: Alembic's head, held equal by a test."""

_FOLDER: Final = Path(__file__).parent
_LOCK: Final = 0x626F73756E  # the letters of "bosun": two servers that start at once migrate one after the other


class SchemaMismatch(Exception):
    """The database's schema is not the one that this Bosun was written for."""

    def __init__(self, found: str | None) -> None:
        seen = "has no schema" if found is None else f"has schema revision {found!r}"
        super().__init__(
            f"the database {seen}, and this Bosun needs revision {SCHEMA_HEAD!r}. Run: python -m bosun migrate"
        )
        self.found = found


def migrate(url: str) -> None:
    """Bring the database at a libpq-like URL to `SCHEMA_HEAD`. Does nothing when it is there already."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, text

    from bosun.stores.postgres import driver_url

    configuration = Config()
    configuration.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    engine = create_engine(driver_url(url))
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            configuration.attributes["connection"] = connection
            command.upgrade(configuration, "head")
            connection.commit()
    finally:
        engine.dispose()


def migrations_fingerprint() -> str:
    """Return the SHA-256 (hexadecimal) of the migrations' files, by which a prepared database can be keyed."""
    digest = hashlib.sha256()
    for file in (_FOLDER / "env.py", *sorted((_FOLDER / "versions").glob("*.py"))):
        content = file.read_bytes()
        digest.update(f"{file.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
