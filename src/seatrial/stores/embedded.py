"""PostgreSQL and Valkey from wheels, started for one trial from a migrated template."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from embedded_services import Postgres, Valkey, initialize_cluster, server_version
from seatrial.binding import Binding

DATABASE = "agent"
"""Name of the database that a trial's agent uses."""


@dataclass(frozen=True)
class StoreUrls:
    """Where a trial's stores are reached."""

    postgres: str
    redis: str


NO_STORES = StoreUrls("", "")
"""For an agent that needs none."""


@contextmanager
def stores_for(binding: Binding, cache: Path) -> Iterator[StoreUrls]:
    """Start what the agent needs: both stores with its schema, or nothing.

    ``cache`` is the folder that keeps the migrated template. Raises embedded_services.ServiceError.
    """
    if not binding.needs_stores:
        yield NO_STORES
        return
    template = database_template(cache, binding.database_fingerprint(), binding.prepare_database)
    with embedded_stores(template) as stores:
        yield stores


@contextmanager
def embedded_stores(template: Path) -> Iterator[StoreUrls]:
    """Start both stores on Unix sockets in a private folder and remove everything at the end.

    The folder lies in memory where the machine has a memory file system. Raises
    embedded_services.ServiceError when a server does not start.
    """
    folder = _working_folder()
    try:
        # The system's tar takes a third of the time of Python's, and every trial waits for it.
        subprocess.run(["tar", "-xf", template, "-C", folder], check=True)
        data = folder / "postgres"
        data.chmod(0o700)
        sockets = folder / "s"
        sockets.mkdir()
        cache = folder / "valkey"
        cache.mkdir()
        with (
            Postgres.start(data, sockets, durable=False) as postgres,
            Valkey.start(cache, sockets / "valkey", durable=False) as valkey,
        ):
            yield StoreUrls(postgres.url(DATABASE), valkey.url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def database_template(cache: Path, fingerprint: str, prepare: Callable[[str], None]) -> Path:
    """Return an archive of a PostgreSQL cluster whose database `prepare` has brought to its schema.

    The archive is made once for each server version and ``fingerprint`` and kept in ``cache``; who comes
    second at the same time makes it again and replaces it by equal content, so nobody waits and nobody
    sees half a file.
    """
    key = hashlib.sha256(f"{server_version()}\0{fingerprint}".encode()).hexdigest()[:32]
    archive = cache / f"postgres-{key}.tar"
    if archive.exists():
        return archive
    cache.mkdir(parents=True, exist_ok=True)
    folder = _working_folder()
    try:
        data = folder / "postgres"
        initialize_cluster(data)
        sockets = folder / "s"
        sockets.mkdir()
        with Postgres.start(data, sockets, durable=True) as server:
            _create_database(server.url())
            prepare(server.url(DATABASE))
            _drop_other_databases(server.url(DATABASE))
        handle, unfinished = tempfile.mkstemp(prefix=f"{archive.name}.", dir=cache)
        os.close(handle)
        with tarfile.open(unfinished, "w") as out:
            out.add(data, arcname="postgres")
        os.replace(unfinished, archive)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return archive


def _create_database(admin_url: str) -> None:
    import psycopg

    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")


def _drop_other_databases(url: str) -> None:
    """Drop what a trial never uses: two thirds of the archive, which every trial would unpack."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE pg_database SET datistemplate = false")
        for name in ("template0", "template1", "postgres"):
            connection.execute(f"DROP DATABASE {name}")


def _working_folder() -> Path:
    """Make a private folder, in memory where the machine has a memory file system.

    Others may pass through it and see nothing: as root, PostgreSQL runs as another user.
    """
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK | os.X_OK)
    folder = Path(tempfile.mkdtemp(prefix="seatrial-", dir=memory if usable else None))
    folder.chmod(0o711)
    return folder
