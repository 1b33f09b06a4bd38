"""PostgreSQL: the engine, the check of its schema, and its health."""

from __future__ import annotations

from psycopg.errors import ReadOnlySqlTransaction
from sqlalchemy import URL, event, make_url, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bosun.stores.faults import SAYS, StoreRefuses, problem_of
from bosun.stores.migrations import SCHEMA_HEAD, SchemaMismatch

DRIVER = "postgresql+psycopg"
CONNECT_TIMEOUT_SECONDS = 10
ROWS_BEYOND_MEMORY = 8192
"""So many rows do not fit into the least work memory: the server writes them to its disk for a moment, if it can."""


def driver_url(url: str) -> URL:
    """Turn a libpq URL (`postgresql://user@host/db`, `postgresql://user@/db?host=/folder`) into SQLAlchemy's.

    Raises `ValueError` for the URL of another database.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ValueError(f"the database URL starts with {parsed.drivername!r}: Bosun needs postgresql://")
    return parsed.set(drivername=DRIVER)


def create_engine(url: str) -> AsyncEngine:
    """Return an engine that has not connected yet.

    A connection that broke while idle is replaced before it is used.
    """
    engine = create_async_engine(
        driver_url(url), pool_pre_ping=True, connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS}
    )
    event.listen(engine.sync_engine, "handle_error", _refusals)
    return engine


def _refusals(context: ExceptionContext) -> None:
    """Tell a server that takes no writes (a standby, a switch of its operator) from a fault of ours."""
    if isinstance(context.original_exception, ReadOnlySqlTransaction):
        raise StoreRefuses("postgres", "read_only", str(context.original_exception))


async def require_schema(engine: AsyncEngine) -> None:
    """Raise `SchemaMismatch` unless the database has exactly the schema that this Bosun was written for."""
    async with engine.connect() as connection:
        try:
            found = (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar_one_or_none()
        except ProgrammingError:
            found = None
    if found != SCHEMA_HEAD:
        raise SchemaMismatch(found)


async def postgres_problem(engine: AsyncEngine) -> str | None:
    """Return None when the store takes writes, or one line that says what is wrong and nothing of where it is."""
    try:
        async with engine.connect() as connection:
            read_only = (await connection.execute(text("SHOW transaction_read_only"))).scalar_one()
            await connection.execute(text("SET LOCAL work_mem = '64kB'"))
            await connection.execute(text(f"SELECT count(*) FROM generate_series(1, {ROWS_BEYOND_MEMORY})"))
    except Exception as error:  # whatever is wrong with a store is its health, not an error of the question
        return problem_of(error)
    return SAYS["read_only"] if read_only == "on" else None
