"""What runs in the process that Bosun has for itself when a trial may kill it.

It gets two open sockets: the control connection to the trial, and the one that it is to serve HTTP on, which outlives
it. It serves Bosun as any host does, with options alone, and ends when the trial says so or is gone.
"""

from __future__ import annotations

import asyncio
import os
import socket
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from bosun.app import create_app
from bosun.clock import CalendarPolicy
from bosun.limits import Limits
from bosun.model.options import ModelOptions
from bosun.options import BosunOptions
from bosun_binding.process_commits import commits_seen
from bosun_binding.process_kill import KillSwitch
from bosun_binding.process_seams import Background, Queue, Steps, Time, ToldErrors
from bosun_binding.process_wire import Frame, Wire
from bosun_binding.seams import FixtureSnapshotSource, HarnessIds
from seatrial.ids import TrialIds
from seatrial.kill import Kill
from seatrial.serving import ASGIApp, Message, Receive, Scope, Send, serve


class Host:
    """One life of Bosun."""

    def __init__(self, control: socket.socket) -> None:
        self._wire = Wire(control, self._hear, _alone)
        self._switch = KillSwitch()
        self._begin: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._queue = Queue(self._wire, self._switch)
        self._background = Background(self._wire)
        self._time: Time | None = None

    async def live(self, listener: socket.socket) -> None:
        """Serve until the trial says stop."""
        begin = await self._begin
        errors = ToldErrors(self._wire)
        errors.start()
        async with commits_seen(begin["postgres_url"], Path(begin["folder"]), self._switch.reached) as postgres_url:
            app = create_app(self._options(begin, postgres_url))
            async with serve(_watched(app, self._switch), lifespan=True, listener=listener):
                self._wire.send("serving")
                await self._stop.wait()
        errors.stop()
        self._wire.close()

    def _options(self, begin: Frame, postgres_url: str) -> BosunOptions:
        assert self._time is not None
        snapshot = begin["snapshot"]
        return BosunOptions(
            postgres_url=postgres_url,
            redis_url=begin["redis_url"],
            model=ModelOptions(base_url=begin["model_url"]),
            limits=TypeAdapter(Limits).validate_python({"workers": 1, **begin["limits"]}),
            plugins=tuple(begin["plugins"]),
            calendar=CalendarPolicy(**begin["calendar"]),
            clock=self._time,
            timer=self._time,
            ids=HarnessIds(TrialIds(begin["seed"])),
            queue=self._queue,
            background=self._background,
            steps=Steps(self._wire, self._switch),
            snapshot_source=None if snapshot is None else FixtureSnapshotSource(snapshot, self._time),
        )

    def _hear(self, frame: Frame) -> None:
        do = frame["do"]
        if do == "begin":
            self._time = Time(self._wire, datetime.fromisoformat(frame["at"]), frame["elapsed"])
            self._begin.set_result(frame)
        elif do == "kill":
            self._switch.order(Kill(frame["at"], frame["nth"], frame["since"], frame["since_nth"]))
        elif do == "stop":
            self._stop.set()
        elif self._time is not None:
            heard = {
                "moved": self._time.move,
                "wake": self._time.wake,
                "parcel": self._queue.parcel,
                "run": self._background.run,
            }
            heard[do](frame)


def _watched(app: ASGIApp, switch: KillSwitch) -> ASGIApp:
    """Return the app behind a door at which requests and answers are counted."""

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                switch.reached("request.answered")

        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        switch.reached("request.received")
        await app(scope, receive, answer)

    return served


def _alone() -> None:
    """End at once: the trial is gone, and nobody would end this process."""
    os._exit(1)


def live(control: int, listener: int) -> None:
    """Run one life in this process, with the two sockets of these numbers."""

    async def run() -> None:
        await Host(socket.socket(fileno=control)).live(socket.socket(fileno=listener))

    asyncio.run(run())
