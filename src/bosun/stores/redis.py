"""Redis (or Valkey): the connection, its key prefix, and its health."""

from __future__ import annotations

from redis.asyncio import Redis

KEY_PREFIX = "bosun:"
CONNECT_TIMEOUT_SECONDS = 10.0
ANSWER_TIMEOUT_SECONDS = 30.0


def connect(url: str) -> Redis:
    """Return a client that has not connected yet, for `redis://…` or `unix:///path.sock`. Values are text.

    A broken connection is replaced on the next command.
    """
    return Redis.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
        socket_timeout=ANSWER_TIMEOUT_SECONDS,
    )


async def redis_problem(redis: Redis) -> str | None:
    """Return None when the store answers, or one line that says what is wrong and nothing of where it is."""
    try:
        await redis.ping()
    except Exception as error:  # whatever is wrong with a store is its health, not an error of the question
        return f"not reachable ({type(error).__name__})"
    return None
