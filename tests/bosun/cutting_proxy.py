"""A Unix socket in front of a store, whose connections a test cuts."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.stores.postgres import create_engine
from bosun.stores.redis import connect
from embedded_services import Postgres, Valkey


class CuttingProxy:
    """Passes bytes on, until it is told to cut every connection."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._left: int | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.cuts = 0

    def cut_after(self, chunks: int) -> None:
        """Cut every connection when so many more pieces have come from clients: the last is passed on, unanswered."""
        self._left = chunks

    def heal(self) -> None:
        """Cut nothing any more."""
        self._left = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a client to the store."""
        from_store, to_store = await asyncio.open_unix_connection(self._target)
        ours = {writer, to_store}
        self._open |= ours
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, to_store, counted=True))
                group.create_task(self._pass(from_store, writer, counted=False))
        except* (ConnectionError, OSError):
            pass
        finally:
            for each in ours:
                each.close()
            self._open -= ours

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, counted: bool) -> None:
        while chunk := await source.read(65536):
            target.write(chunk)
            await target.drain()
            if counted and self._left is not None:
                self._left -= 1
                if self._left == 0:
                    self._left = None
                    self.cuts += 1
                    for each in tuple(self._open):
                        each.transport.abort()
        raise ConnectionError("the other side has closed")


@asynccontextmanager
async def proxied(target: Path, path: Path) -> AsyncIterator[CuttingProxy]:
    """Listen on a path for a store's clients."""
    proxy = CuttingProxy(target)
    server = await asyncio.start_unix_server(proxy.serve, path)
    try:
        yield proxy
    finally:
        server.close()


@asynccontextmanager
async def behind_proxies(
    cluster: Postgres, valkey: Valkey
) -> AsyncIterator[tuple[AsyncEngine, Redis, dict[str, CuttingProxy]]]:
    """Give both stores behind sockets that can be cut."""
    folders = parse_qs(urlsplit(cluster.url()).query)["host"]
    sockets = {"postgres": Path(folders[0]) / ".s.PGSQL.5432", "redis": Path(urlsplit(valkey.url).path)}
    with tempfile.TemporaryDirectory(prefix="bosun-cut-", dir="/tmp") as folder:
        paths = {store: Path(folder) / real.name for store, real in sockets.items()}
        async with (
            proxied(sockets["postgres"], paths["postgres"]) as postgres,
            proxied(sockets["redis"], paths["redis"]) as valkey_,
        ):
            engine = create_engine(f"postgresql://postgres@/one?host={folder}")
            redis = connect(f"unix://{paths['redis']}")
            yield engine, redis, {"postgres": postgres, "redis": valkey_}
            await redis.aclose()
            await engine.dispose()
