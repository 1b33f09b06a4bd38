"""Which exceptions mean that a store is away, read-only, full or asked too much, and no fault of Bosun; and which."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ReadOnlyError
from redis.exceptions import TimeoutError as RedisTimeoutError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

Store: TypeAlias = Literal["postgres", "redis"]
Trouble: TypeAlias = Literal["away", "read_only", "full", "overloaded"]

SAYS: Final[dict[Trouble, str]] = {
    "away": "not reachable",
    "read_only": "read-only",
    "full": "full",
    "overloaded": "asked more than it can answer",
}


class StoreRefuses(Exception):
    """A store answers, and takes no writes."""

    def __init__(self, store: Store, trouble: Trouble, detail: str) -> None:
        super().__init__(detail)
        self.store: Store = store
        self.trouble: Trouble = trouble


STORE_AWAY: Final = (
    OperationalError,
    InterfaceError,
    PoolTimeoutError,
    RedisConnectionError,
    RedisTimeoutError,
    OutOfMemoryError,
    ReadOnlyError,
    ConnectionError,
    StoreRefuses,
)
"""The same work may succeed later, and has not counted as an attempt."""

_OF_REDIS: Final = (RedisConnectionError, RedisTimeoutError, OutOfMemoryError, ReadOnlyError)
_OF_POSTGRES: Final = (OperationalError, InterfaceError, PoolTimeoutError)
_DISK_FULL: Final = "53100"
"""PostgreSQL's code (its documentation, appendix A: disk_full)."""


def store_of(error: BaseException) -> Store | None:
    """Return the store that an exception comes from, or None when it does not say."""
    if isinstance(error, StoreRefuses):
        return error.store
    if isinstance(error, _OF_REDIS):
        return "redis"
    return "postgres" if isinstance(error, _OF_POSTGRES) else None


def trouble_of(error: BaseException) -> Trouble:
    """Return what is wrong with the store."""
    if isinstance(error, StoreRefuses):
        return error.trouble
    if isinstance(error, PoolTimeoutError):
        return "overloaded"
    if isinstance(error, OutOfMemoryError):
        return "full"
    if isinstance(error, ReadOnlyError):
        return "read_only"
    full = isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", None) == _DISK_FULL
    return "full" if full else "away"


def problem_of(error: BaseException) -> str:
    """Say in a few words what is wrong, and nothing of where the store is."""
    name = type(error).__name__
    return f"{SAYS[trouble_of(error)]} ({name})"
