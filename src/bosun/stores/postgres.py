"""PostgreSQL: the engine, the check of its schema, and its health."""

from __future__ import annotations

from select import POLLIN, poll
from typing import Any, Final

from psycopg.errors import ReadOnlySqlTransaction
from sqlalchemy import URL, event, make_url, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DisconnectionError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bosun.stores.faults import SAYS, StoreRefuses, problem_of
from bosun.stores.migrations import SCHEMA_HEAD, SchemaMismatch

DRIVER = "postgresql+psycopg"
CONNECT_TIMEOUT_SECONDS = 10
CONNECTIONS: Final = 15
"""Of one process. None is closed when it has nothing to do: opening one costs the server more than most questions."""
FREE_CONNECTION_SECONDS: Final = 10.0
"""How long work waits for one of them before it is refused as too much."""
ROWS_BEYOND_MEMORY = 8192
"""So many rows do not fit into the least work memory: the server writes them to its disk for a moment, if it can."""
_USED: Final = "bosun.used"
"""Says of a connection that it is not new."""


def driver_url(url: str) -> URL:
    """Turn a libpq URL (`postgresql://user@host/db`, `postgresql://user@/db?host=/folder`) into SQLAlchemy's.

    Raises `ValueError` for the URL of another database.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ValueError(f"the database URL starts with {parsed.drivername!r}: Bosun needs postgresql://")
    return parsed.set(drivername=DRIVER)


def create_engine(url: str, *, patience: float = FREE_CONNECTION_SECONDS) -> AsyncEngine:
    """Return an engine that has not connected yet.

    A connection that broke while idle is replaced before it is used. Where none becomes free for `patience` seconds,
    SQLAlchemy's `TimeoutError` is raised.
    """
    engine = create_async_engine(
        driver_url(url),
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=patience,
        skip_autocommit_rollback=True,
        connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS},
    )
    event.listen(engine.sync_engine, "checkout", _require_whole)
    event.listen(engine.sync_engine, "handle_error", _refusals)
    return engine


def for_reading(engine: AsyncEngine) -> AsyncEngine:
    """Return the engine for what only reads: each query sees what is committed, without a BEGIN and a ROLLBACK.

    The same connections, and the same isolation: at the server's default each query has a view of its own anyway.
    """
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def _require_whole(connection: Any, record: ConnectionPoolEntry, proxy: Any) -> None:
    """Replace a connection that broke while idle. It has something to read, its end, though nothing was asked.

    A question on the wire would tell the same, and cost as much as the one that it precedes.
    """
    if _USED not in record.info:  # which is emptied when the connection is replaced
        record.info[_USED] = True
        return
    driver = connection.driver_connection
    waiting = poll()
    if not driver.closed:
        waiting.register(driver.pgconn.socket, POLLIN)
    if driver.closed or waiting.poll(0):
        raise DisconnectionError


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
