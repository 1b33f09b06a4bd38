"""The schema: made by migrations, described by tables, checked at start."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Computed, MetaData, text
from sqlalchemy import create_engine as sync_engine
from sqlalchemy.ext.asyncio import AsyncEngine

import bosun.stores.migrations
from bosun.stores.migrations import SCHEMA_HEAD, SchemaMismatch, migrate, migrations_fingerprint
from bosun.stores.postgres import driver_url, postgres_problem, require_schema
from bosun.stores.tables import metadata


def test_the_head_that_the_app_checks_is_alembics() -> None:
    """One constant, so that an app need not import Alembic."""
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(bosun.stores.migrations.__file__).parent))
    assert ScriptDirectory.from_config(configuration).get_heads() == [SCHEMA_HEAD]


def test_the_tables_in_code_are_those_that_the_migrations_make(database_url: str) -> None:
    """Names, types, keys and nullability; and the server fills no column but from its own row."""
    made = MetaData()
    engine = sync_engine(driver_url(database_url))
    made.reflect(engine)
    engine.dispose()

    def shape(tables: MetaData) -> dict[str, dict[str, tuple[str, bool | None, bool]]]:
        return {
            name: {
                column.name: (str(column.type.compile(engine.dialect)), column.nullable, column.primary_key)
                for column in table.columns
            }
            for name, table in tables.tables.items()
            if name != "alembic_version"
        }

    assert shape(made) == shape(metadata)
    filled = [column for table in made.tables.values() for column in table.columns if column.server_default]
    assert [column.name for column in filled] == ["words"]
    assert [type(column.server_default) for column in filled] == [Computed]


def test_migrating_again_changes_nothing(database_url: str) -> None:
    """A server migrates at every start."""
    migrate(database_url)


def test_the_fingerprint_is_of_the_files() -> None:
    """Stable within a version of the sources."""
    assert migrations_fingerprint() == migrations_fingerprint()
    assert len(migrations_fingerprint()) == 64


@pytest.mark.asyncio
async def test_a_database_with_another_schema_is_refused_with_the_cure(engine: AsyncEngine) -> None:
    """Older, newer or none at all."""
    await require_schema(engine)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    with pytest.raises(SchemaMismatch, match=f"has schema revision '0000'.*'{SCHEMA_HEAD}'.*python -m bosun migrate"):
        await require_schema(engine)
    async with engine.begin() as connection:
        await connection.execute(text("DROP TABLE alembic_version"))
    with pytest.raises(SchemaMismatch, match="the database has no schema"):
        await require_schema(engine)


@pytest.mark.asyncio
async def test_a_connection_that_broke_while_idle_is_replaced(engine: AsyncEngine) -> None:
    """It is an event, and never the end of anything. It has broken before the next question, not within it."""
    async with engine.connect() as connection:
        pid = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    other = sync_engine(engine.url)
    with other.connect() as killer:
        killer.execute(text("SELECT pg_terminate_backend(:pid, 20000)"), {"pid": pid})
    other.dispose()
    assert await postgres_problem(engine) is None


@pytest.mark.asyncio
async def test_another_databases_url_is_refused() -> None:
    """With what is needed instead."""
    with pytest.raises(ValueError, match="needs postgresql://"):
        driver_url("mysql://root@/x")
