"""Redis (or Valkey): the connection, its key prefix, and its health."""

from __future__ import annotations

import errno
import os
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.connection import Connection
from redis.exceptions import ResponseError

from bosun.stores.faults import StoreRefuses, Trouble, problem_of

KEY_PREFIX = "bosun:"
CONNECT_TIMEOUT_SECONDS = 10.0
ANSWER_TIMEOUT_SECONDS = 30.0


PROBE: Final = f"{KEY_PREFIX}writable"
"""A key that holds nothing: writing it shows whether anything can be written."""


_NO_SPACE: Final = os.strerror(errno.ENOSPC)
"""In the C library's words, which the server repeats."""


class _Client(Redis):
    """Tells a server that cannot write to its disk from a command that is wrong; the library has no error for it."""

    async def parse_response(self, connection: Connection, command_name: str | bytes, **options: Any) -> Any:
        """Read an answer."""
        try:
            return await super().parse_response(connection, command_name, **options)
        except ResponseError as error:
            if str(error).startswith("MISCONF"):
                trouble: Trouble = "full" if _NO_SPACE in str(error) else "read_only"
                raise StoreRefuses("redis", trouble, str(error)) from error
            raise


def connect(url: str) -> Redis:
    """Return a client that has not connected yet, for `redis://…` or `unix:///path.sock`. Values are text.

    A broken connection is replaced on the next command.
    """
    return _Client.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
        socket_timeout=ANSWER_TIMEOUT_SECONDS,
    )


async def require_writable(redis: Redis) -> None:
    """Raise what the client raises when the store is away, read-only or full."""
    await redis.set(PROBE, "")


async def redis_problem(redis: Redis) -> str | None:
    """Return None when the store takes writes, or one line that says what is wrong and nothing of where it is."""
    try:
        await require_writable(redis)
    except Exception as error:  # whatever is wrong with a store is its health, not an error of the question
        return problem_of(error)
    return None
