"""Bosun's binding for tests that kill it: Bosun as it is, in a process of its own."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bosun.plugins import PluginHost
from bosun.stores.postgres import create_engine
from bosun_binding.binding import BosunBinding
from bosun_binding.earlier_tools import EarlierTools
from bosun_binding.process_agent import ProcessAgent
from bosun_binding.seams import HarnessIds
from seatrial.binding import Agent, World


class BosunProcessBinding(BosunBinding):
    """How to make, drive, kill and restart Bosun."""

    @asynccontextmanager
    async def running(self, world: World) -> AsyncIterator[Agent]:
        """Start Bosun in a process, and end whichever of its processes runs at the end."""
        engine = create_engine(world.postgres_url)
        host = PluginHost(engine=engine, clock=world.clock, ids=HarnessIds(world.ids))
        tools = EarlierTools(world.composition.plugins, host)
        try:
            with tempfile.TemporaryDirectory(prefix="bosun-") as folder, socket.create_server(("127.0.0.1", 0)) as port:
                agent = ProcessAgent(world, port, Path(folder), host, tools)
                async with agent:
                    try:
                        await agent.restart()
                        yield agent
                        await agent.end()
                    finally:
                        agent.kill()
        finally:
            await engine.dispose()
