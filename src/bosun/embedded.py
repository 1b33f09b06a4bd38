"""The stores of the command line: those that a URL names, and embedded ones for the rest."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bosun.settings import Settings

DATABASE = "postgres"


class DataDirectoryBusy(Exception):
    """Another process of Bosun serves from this data directory."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(f"another Bosun uses the data directory '{data_dir}': stop it, or set BOSUN_DATA_DIR")


@dataclass(frozen=True)
class StoreUrls:
    """Where the two stores answer."""

    postgres: str
    redis: str


@contextmanager
def stores(settings: Settings, on_end: Callable[[Exception], None]) -> Iterator[StoreUrls]:
    """Run what is not named by a URL, durably, until the block ends.

    `on_end` is called, in another thread, with what to say when one of them ends of itself. Raises
    `DataDirectoryBusy` and `ServiceError`.
    """
    if settings.postgres_url and settings.redis_url:
        yield StoreUrls(settings.postgres_url, settings.redis_url)
        return
    from embedded_services import Valkey

    with ExitStack() as running:
        running.enter_context(_sole_use(settings.data_dir))
        postgres = settings.postgres_url or running.enter_context(_postgres(settings.data_dir, on_end))
        redis = settings.redis_url
        if redis is None:
            data, socket = settings.data_dir / "valkey", settings.data_dir / "run" / "valkey.sock"
            redis = running.enter_context(Valkey.start(data, socket, durable=True, on_end=on_end)).url
        yield StoreUrls(postgres, redis)


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """Give the database's URL: that which is set, else the running server's, else one's that runs for the block."""
    if settings.postgres_url:
        yield settings.postgres_url
        return
    with ExitStack() as running:
        try:
            running.enter_context(_sole_use(settings.data_dir))
        except DataDirectoryBusy:
            socket_dir = quote(str(_socket_dir(settings.data_dir)), safe="")
            yield f"postgresql://postgres@/{DATABASE}?host={socket_dir}"
            return
        yield running.enter_context(_postgres(settings.data_dir))


@contextmanager
def _postgres(data_dir: Path, on_end: Callable[[Exception], None] | None = None) -> Iterator[str]:
    from embedded_services import Postgres, initialize_cluster

    cluster = data_dir / "postgres"
    if not cluster.exists():
        unfinished = data_dir / "postgres.new"  # a cluster appears whole, whenever its making is killed
        shutil.rmtree(unfinished, ignore_errors=True)
        initialize_cluster(unfinished)
        unfinished.rename(cluster)
    with Postgres.start(cluster, _socket_dir(data_dir), durable=True, on_end=on_end) as server:
        yield server.url(DATABASE)


def _socket_dir(data_dir: Path) -> Path:
    return data_dir.absolute() / "run" / "postgres"


@contextmanager
def _sole_use(data_dir: Path) -> Iterator[None]:
    """Hold the data directory: the lock goes with the process, however it ends."""
    data_dir.mkdir(mode=0o755, parents=True, exist_ok=True)
    descriptor = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataDirectoryBusy(data_dir) from error
        yield
    finally:
        os.close(descriptor)
