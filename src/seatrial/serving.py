"""Serves an ASGI app on a loopback TCP port inside the running event loop.

For everything that a trial puts behind real HTTP: the agent, the model gateway, stand-ins. Start and stop are
immediate and driven by events: uvicorn's HTTP/1.1 protocol is used without its server loop, which polls ten
times a second and installs signal handlers.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

# The ASGI specification's own shapes (https://asgi.readthedocs.io/en/latest/specs/main.html): open mappings.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

# A client of a trial keeps its connections for the trial's whole life. If the server closed idle ones, a
# request could meet a connection that is just being closed.
_KEEP_IDLE_SECONDS = 24 * 60 * 60


class AppFailed(Exception):
    """The app's lifespan failed: at start-up, at shut-down or in between. Its own exception is the cause."""


@asynccontextmanager
async def serve(
    app: ASGIApp, *, lifespan: bool, grace: float = 2.0, listener: socket.socket | None = None
) -> AsyncIterator[str]:
    """Serve `app` and yield its base URL, `http://127.0.0.1:PORT`.

    With `listener`, a TCP socket that listens on loopback, the port is its own; it is closed at the end.

    At the end idle connections are closed and running requests receive `http.disconnect`; those that have not
    ended `grace` seconds later are cancelled. Enter and exit may be different tasks of one loop.

    Raises AppFailed when the app's lifespan does not start, dies while the app is served (raised at the end), or
    does not stop cleanly.
    """
    life = _Lifespan(app) if lifespan else None
    if life is not None:
        await life.start()
    try:
        port = _Port(app, life.state if life is not None else {}, listener)
        await port.open()
        try:
            yield port.url
        finally:
            await port.close(grace)
    finally:
        if life is not None:
            await life.stop()


def cut(send: Send) -> None:
    """Break the connection of a request off, as a network does: what was not sent never comes.

    For an app that is served here, with the `send` that it was called with; it hears `http.disconnect` next.
    """
    cycle = getattr(send, "__self__", None)
    if not isinstance(cycle, RequestResponseCycle):
        raise TypeError("only a connection that is served here can be cut")
    cycle.transport.abort()


class _Connection(H11Protocol):
    """One client's connection; `lost` is done as soon as its socket is closed."""

    def __init__(self, config: Config, server_state: ServerState, app_state: dict[str, Any]) -> None:
        super().__init__(config, server_state, app_state)
        self.lost: asyncio.Future[None] = self.loop.create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost.set_result(None)

    def end(self) -> None:
        """Close when idle (what was written still leaves); break off a request that is being answered."""
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.shutdown()


class _Port:
    def __init__(self, app: ASGIApp, app_state: dict[str, Any], listener: socket.socket | None) -> None:
        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            await app(scope, receive, send)

        # Not the app itself: uvicorn calls what it gets without arguments, to learn whether it makes an app.
        self._config = Config(
            served, interface="asgi3", http=_Connection, ws="none", lifespan="off", workers=1, log_config=None,
            access_log=False, proxy_headers=False, server_header=False, date_header=False,
            timeout_keep_alive=_KEEP_IDLE_SECONDS,
        )  # fmt: skip
        self._config.load()
        self._app_state = app_state
        self._listener = listener
        self._state = ServerState()
        self._connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._listener is None:
            self._server = await loop.create_server(self._connect, host="127.0.0.1", port=0)
        else:
            self._server = await loop.create_server(self._connect, sock=self._listener)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def _connect(self) -> asyncio.Protocol:
        connection = _Connection(self._config, self._state, self._app_state)
        self._connections.add(connection)
        connection.lost.add_done_callback(lambda _: self._connections.discard(connection))
        return connection

    async def close(self, grace: float) -> None:
        assert self._server is not None
        self._server.close()
        for connection in tuple(self._connections):
            connection.end()
        await _ended({connection.lost for connection in self._connections}, grace)
        for connection in tuple(self._connections):
            connection.transport.abort()
        await _ended(set(self._state.tasks), grace)
        for task in tuple(self._state.tasks):
            task.cancel()
        await _ended(set(self._state.tasks), None)


async def _ended(waiting: set[Any], timeout: float | None) -> None:
    if waiting:
        await asyncio.wait(waiting, timeout=timeout)


class _Lifespan:
    """Drives an app's lifespan (https://asgi.readthedocs.io/en/latest/specs/lifespan.html) in a task of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.state: dict[str, Any] = {}
        self._app = app
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._answers: dict[str, asyncio.Future[str | None]] = {}  # None: complete; text: failed, and why

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._answers = {phase: loop.create_future() for phase in ("startup", "shutdown")}
        scope: Scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        self._task = asyncio.ensure_future(self._app(scope, self._inbox.get, self._answer))
        await self._pass("startup")

    async def stop(self) -> None:
        if self._task.done():
            raise AppFailed("The app's lifespan ended while the app was still being served.") from self._error()
        await self._pass("shutdown")
        await asyncio.wait({self._task})
        if (error := self._error()) is not None:
            raise AppFailed(f"The app did not shut down cleanly: {error}") from error

    async def _pass(self, phase: str) -> None:
        """Go through one phase; end the app's task when the phase fails or is cancelled."""
        answer = self._answers[phase]
        self._inbox.put_nowait({"type": f"lifespan.{phase}"})
        either: set[asyncio.Future[Any]] = {self._task, answer}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done() and answer.result() is None:
                return
            # Frameworks report the failure as a message first and raise the exception itself right after.
            await asyncio.wait({self._task})
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise
        error = self._error()
        said = answer.result() if answer.done() else None
        why = error if error is not None else said or "it ended without an answer to the lifespan's message"
        raise AppFailed(f"The app's {phase} failed: {why}") from error

    def _error(self) -> BaseException | None:
        if self._task.cancelled():
            return asyncio.CancelledError("the app's lifespan task was cancelled")
        return self._task.exception()

    async def _answer(self, message: Message) -> None:
        _, phase, result = message["type"].split(".")
        if not self._answers[phase].done():
            self._answers[phase].set_result(None if result == "complete" else str(message.get("message", "")))
