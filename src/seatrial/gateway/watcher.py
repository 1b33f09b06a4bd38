"""Who may look on while requests are answered, and hold them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from seatrial.gateway.exchange import Role
from seatrial.gateway.tool_calls import CalledTool


class NotReleased(Exception):
    """Whoever held a request failed: it gets no answer."""


class Watcher(Protocol):
    """Looks on. A request waits while one of these is awaited; the answer of a miss is not held."""

    def holds(self, role: Role) -> bool:
        """Tell whether requests of a role may be held. Their streams are passed on whole, all others as they come."""

    async def asked(self, role: Role) -> None:
        """Hear of a request before it is answered. Raises NotReleased."""

    async def called(self, role: Role, calls: Sequence[CalledTool]) -> None:
        """Hear of the calls that an answer asks for, at least one, before the agent does. Raises NotReleased."""

    def failed_request(self) -> None:
        """Hear that a request got an answer that is an error, of the model's service and not of the gateway."""

    async def kept_waiting(self, gone: asyncio.Future[None]) -> None:
        """Let time pass for a client that gets no answer, until it is gone."""


class Nobody:
    """Looks on at nothing."""

    def holds(self, role: Role) -> bool:
        return False

    async def asked(self, role: Role) -> None:
        return None

    async def called(self, role: Role, calls: Sequence[CalledTool]) -> None:
        return None

    def failed_request(self) -> None:
        return None

    async def kept_waiting(self, gone: asyncio.Future[None]) -> None:
        await gone
