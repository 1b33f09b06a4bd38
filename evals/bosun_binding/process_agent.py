"""Drive a Bosun that runs in a process of its own and can be killed: the trial's side of `process_host`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from bosun.plugins import PluginHost
from bosun_binding.driver import BosunAgent
from bosun_binding.earlier_tools import EarlierTools
from bosun_binding.process_kill import KILL_POINTS
from bosun_binding.process_nursery import Born, nursery
from bosun_binding.process_wire import Frame, Wire
from seatrial.binding import AgentGone, Sent, World
from seatrial.conversation import ConversationState
from seatrial.inputs import WebMessage
from seatrial.kill import Kill, LogRow

PATIENCE_SECONDS = 60.0
"""How long, in real seconds, a process may take to serve, and to end when it is told to."""


class Life:
    """One process of Bosun, from its start to its end. ``number`` counts them: no secret of a life comes again."""

    def __init__(self, world: World, listener: socket.socket, folder: Path, number: int) -> None:
        self._world = world
        self._listener = listener
        self._folder = folder
        self._number = number
        loop = asyncio.get_running_loop()
        self.died: asyncio.Future[str] = loop.create_future()
        self.errors: list[str] = []
        self._serving: asyncio.Future[None] = loop.create_future()
        self._process: Born | None = None
        self._wire: Wire | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._work: dict[int, asyncio.Future[str | None]] = {}

    async def start(self) -> None:
        """Start the process and return when it serves. Raises AgentGone when it ends before that."""
        ours, its = socket.socketpair()
        with its:
            self._process = await asyncio.to_thread(lambda: nursery().bear(its, self._listener))
        world = self._world
        self._wire = Wire(ours, self._hear, self._end)
        self._wire.send(
            "begin",
            at=(world.clock.now() - timedelta(seconds=world.timer.monotonic())).isoformat(),
            elapsed=world.timer.monotonic(),
            postgres_url=world.postgres_url,
            redis_url=world.redis_url,
            model_url=world.model_url,
            folder=str(self._folder),
            limits=dict(world.composition.limits),
            plugins=list(world.composition.plugins),
            calendar=asdict(world.calendar),
            seed=f"life {self._number}",
            snapshot=world.snapshot if world.snapshot is None else dict(world.snapshot),
        )
        either: set[asyncio.Future[Any]] = {self._serving, self.died}
        await asyncio.wait(either, timeout=PATIENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not self._serving.done():
            told = self.died.result() if self.died.done() else f"it does not serve after {PATIENCE_SECONDS:g} s"
            self.kill()
            raise AgentGone(f"the agent's process did not start: {told}")

    def say(self, do: str, **words: object) -> None:
        """Tell the process something."""
        if self._wire is not None:
            self._wire.send(do, **words)

    async def stop(self) -> None:
        """End the process, properly if it lives. Raises AgentGone when it does not end, or not well."""
        if self.died.done():
            return
        self.say("stop")
        ended, _ = await asyncio.wait({self.died}, timeout=PATIENCE_SECONDS)
        if not ended:
            self.kill()
            raise AgentGone(f"the agent's process did not end in {PATIENCE_SECONDS:g} s")
        assert self._process is not None
        if self._process.ended():
            raise AgentGone(f"the agent did not shut down cleanly: {self.died.result()}")

    def kill(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
        self._close()

    def _end(self) -> None:
        """The connection is gone, so the process is: the system closes what it had open when it ends it."""
        assert self._process is not None
        code = self._process.ended()
        self._close()
        told = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self.died.set_result(f"its process {told}")

    def _close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        for work in self._work.values():
            work.cancel()
        if self._wire is not None:
            self._wire.close()

    def _hear(self, frame: Frame) -> None:
        heard: dict[str, Callable[[Frame], None]] = {
            "serving": lambda _: self._serving.set_result(None),
            "step": lambda f: self._world.on_step(f["name"], f["conversation_id"], f["fields"]),
            "error": lambda f: self.errors.append(f["words"]),
            "sleep": self._sleep,
            "wake_not": lambda f: self._forget(f"sleep {f['number']}"),
            "nudge": lambda f: self._world.queue.send(f["subject"], f["reason"], f["delay"]),
            "take": lambda _: self._start("take", self._take()),
            "done": lambda f: self._world.queue.finish(f["number"]),
            "submit": self._submit,
            "ran": lambda f: self._ran(f["number"], f["why"]),
        }
        heard[frame["do"]](frame)

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = self._tasks[name] = asyncio.ensure_future(work)
        task.add_done_callback(lambda ended: self._tasks.pop(name) if self._tasks.get(name) is ended else None)

    def _forget(self, name: str) -> None:
        if (task := self._tasks.pop(name, None)) is not None:
            task.cancel()

    def _sleep(self, frame: Frame) -> None:
        async def sleep() -> None:
            timer = self._world.timer
            wait = timer.deadline if frame["kind"] == "deadline" else timer.sleep
            await wait(frame["due"] - timer.monotonic())
            self.say("wake", number=frame["number"])

        self._start(f"sleep {frame['number']}", sleep())

    async def _take(self) -> None:
        parcel = await self._world.queue.take()
        self.say("parcel", subject=parcel.subject, reason=parcel.reason, number=parcel.number)

    def _submit(self, frame: Frame) -> None:
        async def run() -> None:
            ran = self._work[frame["number"]] = asyncio.get_running_loop().create_future()
            self.say("run", number=frame["number"])
            if (why := await ran) is not None:
                raise RuntimeError(why)

        self._world.background.submit(frame["kind"], frame["name"], run)

    def _ran(self, number: int, why: str | None) -> None:
        if not (ran := self._work.pop(number)).done():  # a trial that failed meanwhile waits for nothing
            ran.set_result(why)


class ProcessAgent(BosunAgent):
    """One Bosun in a process of its own, through all of its lives. Its port, and the people it knows, stay."""

    kill_points = KILL_POINTS

    def __init__(
        self, world: World, listener: socket.socket, folder: Path, host: PluginHost, tools: EarlierTools
    ) -> None:
        super().__init__(f"http://127.0.0.1:{listener.getsockname()[1]}", host, tools)
        self._lives: list[Life] = []
        self._next: Callable[[int], Life] = lambda number: Life(world, listener, folder, number)
        world.timer.tell(lambda elapsed: self._lives[-1].say("moved", elapsed=elapsed) if self._lives else None)

    @property
    def died(self) -> asyncio.Future[str]:
        """Done when the present process has ended."""
        return self._lives[-1].died

    async def restart(self) -> None:
        """Start the first process, or the next one when the last is dead. Raises AgentGone when it does not start."""
        self._lives.append(self._next(len(self._lives) + 1))
        await self._lives[-1].start()

    async def end(self) -> None:
        """End the present process. Raises AgentGone when it does not end well."""
        await self._lives[-1].stop()

    def kill(self) -> None:
        """End whatever still runs."""
        for life in self._lives:
            life.kill()

    def kill_at(self, kill: Kill) -> None:
        """Order the process to kill itself at a point."""
        self._lives[-1].say("kill", **asdict(kill))

    async def send(self, item: WebMessage, *, conversation_id: str | None, key: str) -> Sent:
        """Post a web message. Raises AgentGone when the process dies before it has answered."""
        with self._alive():
            return await super().send(item, conversation_id=conversation_id, key=key)

    async def read(self, conversation_id: str) -> ConversationState:
        """Read the conversation. Raises AgentGone as `send` does."""
        with self._alive():
            return await super().read(conversation_id)

    async def log(self, conversation_id: str) -> tuple[LogRow, ...]:
        """Read the events of a conversation as the person who started it, page by page. Raises AgentGone."""
        rows: tuple[LogRow, ...] = ()
        before: int | None = None
        with self._alive():
            while True:
                page = await self.events(conversation_id, before=before)
                rows = (*(LogRow(event["seq"], event["type"]) for event in page["events"]), *rows)
                before = page["before"]
                if before is None:
                    return rows

    def pending(self) -> tuple[str, ...]:
        """Say that the agent is dead, when it is: then nothing of its work goes on."""
        return (f"the agent, which is dead: {self.died.result()}",) if self.died.done() else super().pending()

    def errors(self) -> tuple[str, ...]:
        """Return what Bosun logged as an error in all of its lives."""
        return (*super().errors(), *(words for life in self._lives for words in life.errors))

    @contextmanager
    def _alive(self) -> Iterator[None]:
        if self.died.done():  # its port still takes connections, for the next life
            raise AgentGone(self.died.result())
        try:
            yield
        except httpx.TransportError as error:
            raise AgentGone(f"it broke the connection off ({type(error).__name__})") from error
