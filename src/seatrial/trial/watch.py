"""The handler of one call: told of what the agent does while that is held, one thing after the other."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from seatrial.clock import VirtualTimer, pass_until
from seatrial.gateway.exchange import Role
from seatrial.gateway.tool_calls import CalledTool
from seatrial.gateway.watcher import NotReleased
from seatrial.progress import Actions, ModelRequest, OnProgress, Paused, Progress, ReplyDelivered, ToolRequest
from seatrial.work import Parcel

HELD: Role = "agent"
"""The role whose requests a handler is told of. Titles and decisions beside the turn go their way."""


class Watch:
    """Looks on at one call for its handler, which may be None.

    A handler runs in a task of its own, so that it goes on when the agent gives up the request that is held: what it
    has sent may be the reason.
    """

    def __init__(self, handler: OnProgress | None, actions: Actions, timer: VirtualTimer) -> None:
        self._handler = handler
        self._actions = actions
        self._timer = timer
        self._turn = asyncio.Lock()
        self._counts: Counter[str] = Counter()
        self._running: dict[asyncio.Task[None], str] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Raises what the handler raised, as soon as it did."""
        self.holding = 0
        """How many requests wait for the handler."""

    def pending(self) -> tuple[str, ...]:
        """Name what the handler was told of and has not returned from."""
        return tuple(f"the handler of on_progress, told of {what}" for what in self._running.values())

    async def returned(self, seconds: float) -> bool:
        """Wait until the handler has returned from all that it was told of; False when it does not in this time."""
        return not self._running or not (await asyncio.wait(set(self._running), timeout=seconds))[1]

    async def close(self) -> None:
        """End what still runs."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self.failed.cancel()

    # what the gateway and the queue tell

    def holds(self, role: Role) -> bool:
        """Tell whether there is a handler for the role's requests."""
        return self._handler is not None and role == HELD

    async def asked(self, role: Role) -> None:
        """Hold a request until the handler has returned. Raises NotReleased when it raised."""
        self._timer.follow_next_sleep(False)  # the agent is over its error
        if self.holds(role):
            await self._held(ModelRequest)

    async def called(self, role: Role, calls: Sequence[CalledTool]) -> None:
        """Hold an answer until the handler was told of each of its calls. Raises NotReleased when it raised."""
        for call in calls:
            await self._held(partial(_tool_request, call))

    def failed_request(self) -> None:
        """Let time move with the wait by which the agent answers an error."""
        self._timer.follow_next_sleep(True)

    async def kept_waiting(self, gone: asyncio.Future[None]) -> None:
        """Let time pass for a client that gets no answer, until it has left and over the wait that it answers with."""
        await pass_until(self._timer, gone)

    async def paused(self, parcel: Parcel) -> None:
        """Keep the rest of a turn in the queue until the handler has returned. Raises NotReleased when it raised."""
        if self._handler is not None:
            await self._tell(Paused)

    async def delivered(self, text: str) -> None:
        """Hold the answer to a message of the agent's until the handler has returned, or has failed."""
        if self._handler is not None:
            with suppress(NotReleased):  # the call fails; the agent is answered all the same
                await self._tell(partial(ReplyDelivered, text))

    async def _held(self, progress: Callable[[int], Progress]) -> None:
        self.holding += 1
        try:
            await self._tell(progress)
        finally:
            self.holding -= 1

    async def _tell(self, make: Callable[[int], Progress]) -> None:
        kind = type(make(0)).__name__
        self._counts[kind] += 1
        progress = make(self._counts[kind])
        task = asyncio.ensure_future(self._handle(progress))
        self._running[task] = f"{kind} {progress.nth}"
        task.add_done_callback(lambda ended: self._running.pop(ended, None))
        await asyncio.shield(task)
        if self.failed.done():
            raise NotReleased(f"the handler of on_progress failed before or when it was told of {kind} {progress.nth}")

    async def _handle(self, progress: Progress) -> None:
        async with self._turn:
            if self._handler is None or self.failed.done():
                return
            try:
                await self._handler(progress, self._actions)
            except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # pytest's own outcomes are no Exception
                if not self.failed.done():
                    self.failed.set_exception(error)


def _tool_request(call: CalledTool, nth: int) -> ToolRequest:
    return ToolRequest(call.name, _arguments(call.arguments), nth)


def _arguments(text: str) -> Any:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
