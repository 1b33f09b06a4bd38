"""A process that ends around a commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


class Crash(BaseException):
    """The process ends here."""


class crash_at_commit:
    """Within the block, the process ends at the n-th commit: before it is done, or when it is. Zero is never."""

    def __init__(self, engine: AsyncEngine, number: int, after: bool) -> None:
        self._target = engine.sync_engine
        self._left = number
        self._name = "commit"
        self._after = after
        self._listener: Callable[..., None] = self._count

    def __enter__(self) -> None:
        event.listen(self._target, self._name, self._listener)

    def __exit__(self, *raised: object) -> None:
        event.remove(self._target, self._name, self._listener)

    def _count(self, connection: Any) -> None:
        self._left -= 1
        if self._left == 0:
            if self._after:
                connection.connection.dbapi_connection.commit()
            raise Crash
