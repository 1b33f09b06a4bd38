"""Places and servers for these tests: real clusters, real servers, directories that every user can reach."""

from __future__ import annotations

import os
import select
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedded_services import Postgres, Valkey, initialize_cluster


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory with a short name which the account that PostgreSQL runs as can come to (pytest's own are 0700)."""
    directory = Path(tempfile.mkdtemp(prefix="es"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def made_cluster() -> Iterator[Path]:
    """A cluster made once; tests serve copies of it."""
    directory = Path(tempfile.mkdtemp(prefix="es"))
    directory.chmod(0o755)
    initialize_cluster(directory / "cluster")
    yield directory / "cluster"
    shutil.rmtree(directory)


@pytest.fixture
def cluster(place: Path, made_cluster: Path) -> Path:
    """A stopped cluster of this test's own."""
    return Path(shutil.copytree(made_cluster, place / "cluster"))


@pytest.fixture
def postgres(place: Path, cluster: Path) -> Iterator[Postgres]:
    with Postgres.start(cluster, place / "sockets", durable=False) as server:
        yield server


@pytest.fixture
def valkey(place: Path) -> Iterator[Valkey]:
    with Valkey.start(place / "valkey", place / "sockets" / "valkey", durable=False) as server:
        yield server


@pytest.fixture
def watch() -> Iterator[Callable[..., Callable[..., list[int]]]]:
    """`left = watch(pid, …)`, then `left(seconds=20)`: the processes that have not ended after up to `seconds` each.

    They are held by descriptor from the first call on: no polling, and a reused process id is not taken for one.
    """
    opened: list[int] = []

    def watch(*pids: int) -> Callable[..., list[int]]:
        descriptors = {os.pidfd_open(pid): pid for pid in pids}
        opened.extend(descriptors)

        def left(*, seconds: float = 20.0) -> list[int]:
            return [pid for fd, pid in descriptors.items() if not select.select([fd], [], [], seconds)[0]]

        return left

    yield watch
    for descriptor in opened:
        os.close(descriptor)
