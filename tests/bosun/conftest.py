"""The two real stores for tests that need them: started once a process, empty for each test. No agent runs here."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.ids import DerivedIds
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.mailbox.mailbox import Mailbox
from bosun.steps import Step
from bosun.stores.migrations import migrate
from bosun.stores.postgres import create_engine
from bosun.stores.redis import connect
from embedded_services import Postgres, Valkey, initialize_cluster

START = datetime(2030, 1, 15, 12, 0, tzinfo=UTC)


@dataclass
class HandClock:
    """A clock that a test moves."""

    at: datetime = START

    def now(self) -> datetime:
        """Return the time that the test says."""
        return self.at

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.at += timedelta(seconds=seconds)


class CountedIds(DerivedIds):
    """Derived ids, and nonces that count."""

    def __init__(self) -> None:
        self._count = 0

    def nonce(self, parent: str, kind: str) -> str:
        """Return the next one."""
        self._count += 1
        return f"{kind}-{self._count}"


@dataclass
class KeptSteps:
    """A sink that keeps what it is given."""

    steps: list[Step] = field(default_factory=list)

    def emit(self, step: Step) -> None:
        """Keep the step."""
        self.steps.append(step)

    @property
    def names(self) -> list[str]:
        """The steps' names, in order."""
        return [step.name for step in self.steps]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Postgres]:
    """PostgreSQL with a migrated database named `template`."""
    with tempfile.TemporaryDirectory(prefix="bosun-pg-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        initialize_cluster(Path(folder) / "data")
        with Postgres.start(Path(folder) / "data", Path(folder) / "run", durable=False) as server:
            _execute(server, "CREATE DATABASE migrated")
            migrate(server.url("migrated"))
            yield server


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    """Valkey without anything in it."""
    with (
        tempfile.TemporaryDirectory(prefix="bosun-vk-", dir="/tmp") as folder,
        Valkey.start(Path(folder) / "data", Path(folder) / "run" / "v.sock", durable=False) as server,
    ):
        yield server


@pytest.fixture
def database_url(cluster: Postgres) -> str:
    """A fresh migrated database."""
    _execute(cluster, "DROP DATABASE IF EXISTS one WITH (FORCE)")
    _execute(cluster, "CREATE DATABASE one TEMPLATE migrated")
    return cluster.url("one")


@pytest_asyncio.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    """An engine on a fresh migrated database."""
    engine = create_engine(database_url)
    yield engine
    await engine.dispose()


@pytest_asyncio.fixture
async def redis(valkey: Valkey) -> AsyncIterator[Redis]:
    """A client of an empty Valkey."""
    client = connect(valkey.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
def clock() -> HandClock:
    """A clock that stands at noon of 15 January 2030, UTC."""
    return HandClock()


@pytest.fixture
def ids() -> CountedIds:
    """Ids whose nonces a test can foretell."""
    return CountedIds()


@pytest.fixture
def steps() -> KeptSteps:
    """A sink that keeps steps."""
    return KeptSteps()


@pytest.fixture
def log(engine: AsyncEngine, clock: HandClock, ids: CountedIds) -> ConversationLog:
    """The log's writer."""
    return ConversationLog(engine, clock=clock, ids=ids)


@pytest.fixture
def reader(engine: AsyncEngine) -> ConversationReader:
    """The log's reader."""
    return ConversationReader(engine)


@pytest.fixture
def mailbox(redis: Redis, clock: HandClock, ids: CountedIds, steps: KeptSteps) -> Mailbox:
    """Mailboxes that try three times."""
    return Mailbox(redis, clock=clock, ids=ids, steps=steps, attempts=3)


def _execute(server: Postgres, statement: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(statement.encode())
