"""Which exceptions mean that a store is away, as opposed to a fault of Bosun."""

from __future__ import annotations

from typing import Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

STORE_AWAY: Final = (
    OperationalError,
    InterfaceError,
    PoolTimeoutError,
    RedisConnectionError,
    RedisTimeoutError,
    ConnectionError,
)
"""The same work may succeed later, and has not counted as an attempt."""
