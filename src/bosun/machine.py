"""The machine's clock, timer and randomness: production's side of the seams, and the only module that touches them."""

from __future__ import annotations

import asyncio
import secrets
import time
from datetime import UTC, datetime

from bosun.ids import DerivedIds


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the present instant."""
        return datetime.now(UTC)


class SystemTimer:
    """The machine's monotonic time and the event loop's waiting."""

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait in the event loop."""
        await asyncio.sleep(seconds)

    async def deadline(self, seconds: float) -> None:
        """Wait in the event loop."""
        await asyncio.sleep(seconds)


class SystemIds(DerivedIds):
    """Derived ids, and nonces from the operating system's randomness."""

    def nonce(self, parent: str, kind: str) -> str:
        """Return 256 unguessable bits as 43 URL-safe characters; parent and kind need not enter them."""
        return secrets.token_urlsafe(32)
