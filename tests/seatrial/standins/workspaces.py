"""A workspace to test with, served on loopback, and the real client of Slack's library in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from seatrial.clock import TrialClock, VirtualTimer
from seatrial.ids import TrialIds
from seatrial.serving import serve
from seatrial.standins.slack import Events, Message, People, WebApi, Workspace

START = datetime(2030, 1, 15, 12, tzinfo=UTC)


@dataclass
class Served:
    """The stand-in while it is served."""

    clock: TrialClock
    workspace: Workspace
    api: WebApi
    events: Events
    people: People
    client: WebClient

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call a method by its name as the library calls it, with JSON."""
        return await self._run(method, json=arguments)

    async def form(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call a method with a form."""
        return await self._run(method, params=arguments)

    async def _run(self, method: str, **how: Any) -> dict[str, Any]:
        data = (await asyncio.to_thread(self.client.api_call, method, **how)).data
        assert isinstance(data, dict)
        return data

    async def refused(self, method: str, **arguments: Any) -> str:
        """Call a method and return Slack's word for why it does not do that."""
        try:
            answer = await self.call(method, **arguments)
        except SlackApiError as error:
            assert self.api.calls[-1].error == error.response["error"]
            return str(error.response["error"])
        raise AssertionError(f"'{method}' answered {answer}")

    def wrote(self, text: str = "hello", **how: Any) -> Message:
        """Let morgan write."""
        return self.people.wrote("morgan", text, **how)


@asynccontextmanager
async def served() -> AsyncIterator[Served]:
    """Serve a workspace in which nothing was said yet."""
    clock = TrialClock(START, VirtualTimer())
    workspace = Workspace(clock, TrialIds("test"))
    api = WebApi(workspace)
    events = Events(workspace, api.signing_secret)
    async with serve(api.app, lifespan=False) as url:
        access = api.access(url)
        client = WebClient(access.bot_token, base_url=access.base_url, retry_handlers=[])
        yield Served(clock, workspace, api, events, People(workspace, events), client)
