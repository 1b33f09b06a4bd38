"""An app is served on loopback from its start-up to its shut-down, and every failure of either is raised."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from seatrial.serving import AppFailed, Receive, Scope, Send, serve

pytestmark = pytest.mark.asyncio


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def test_an_app_is_served_without_a_date_and_gone_afterwards() -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        async with serve(answer, lifespan=False) as url:
            assert url.startswith("http://127.0.0.1:")
            response = await client.get(url)
            assert (response.text, dict(response.headers)) == ("ok", {"content-length": "2"})
        with pytest.raises(httpx.ConnectError):
            await client.get(url)


async def test_lifespan_runs_around_and_its_state_reaches_requests() -> None:
    happened: list[str] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, str]]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(asyncio.Event().wait())
            happened.append("up")
            yield {"greeting": "hello"}
            happened.append("down")
            task.cancel()

    app = FastAPI(lifespan=lifespan)

    @app.get("/")
    async def root() -> list[str]:
        return happened

    async with serve(app, lifespan=True) as url, httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(url)).json() == ["up"]
    assert happened == ["up", "down"]


async def test_a_failed_start_up_is_raised_with_its_cause_and_nothing_is_served() -> None:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if app.title:
            raise ValueError("no database")
        yield

    with pytest.raises(AppFailed, match="startup failed: no database") as caught:
        async with serve(FastAPI(lifespan=lifespan), lifespan=True):
            pytest.fail("served")
    assert isinstance(caught.value.__cause__, ValueError)


async def test_an_app_without_a_lifespan_is_told_from_one_that_starts() -> None:
    async def deaf(scope: Scope, receive: Receive, send: Send) -> None:
        return None

    with pytest.raises(AppFailed, match="without an answer"):
        async with serve(deaf, lifespan=True):
            pytest.fail("served")


async def test_a_failed_shut_down_is_raised() -> None:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        raise ValueError("could not flush")

    with pytest.raises(AppFailed, match="could not flush"):
        async with serve(FastAPI(lifespan=lifespan), lifespan=True):
            pass


async def test_a_lifespan_that_dies_in_between_is_raised() -> None:
    fail = asyncio.Event()

    async def dying(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await fail.wait()
        raise ValueError("the worker died")

    with pytest.raises(AppFailed, match="while the app was still being served") as caught:
        async with serve(dying, lifespan=True):
            fail.set()
            await asyncio.wait({task for task in asyncio.all_tasks() if "dying" in repr(task.get_coro())})
    assert str(caught.value.__cause__) == "the worker died"


async def test_stopping_disconnects_a_running_request_and_then_cancels_it() -> None:
    happened: list[str] = []
    arrived = asyncio.Event()

    async def stubborn(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        arrived.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        happened.append("disconnected")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            happened.append("cancelled")
            raise

    async with httpx.AsyncClient(trust_env=False) as client:
        async with serve(stubborn, lifespan=False, grace=0.01) as url:
            asking = asyncio.create_task(client.get(url))
            await arrived.wait()
        with pytest.raises(httpx.HTTPError):
            await asking
    assert happened == ["disconnected", "cancelled"]


async def test_an_app_can_be_served_on_a_port_that_is_there_before_it_and_after_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as port:
        where = f"http://127.0.0.1:{port.getsockname()[1]}"
        async with httpx.AsyncClient(trust_env=False) as client:
            early = asyncio.ensure_future(client.get(where))  # it waits in the port until somebody serves
            async with serve(answer, lifespan=False, listener=port.dup()) as url:
                assert (url, (await early).text) == (where, "ok")
            late = asyncio.ensure_future(client.get(where))
            async with serve(answer, lifespan=False, listener=port.dup()):
                assert (await late).text == "ok"


async def test_enter_and_exit_may_be_different_tasks() -> None:
    served = serve(FastAPI(), lifespan=True)
    url = await asyncio.create_task(served.__aenter__())
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{url}/openapi.json")).status_code == 200
    await asyncio.create_task(served.__aexit__(None, None, None))


async def test_a_request_that_heeds_its_disconnect_makes_the_stop_immediate() -> None:
    arrived = asyncio.Event()

    async def heeding(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        arrived.set()
        while (await receive())["type"] != "http.disconnect":
            pass

    async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(5):
        async with serve(heeding, lifespan=False, grace=3600) as url:
            asking = asyncio.create_task(client.get(url))
            await arrived.wait()
        with pytest.raises(httpx.HTTPError):
            await asking


async def test_an_app_is_called_with_requests_only() -> None:
    calls: list[int] = []

    async def any_shape(*arguments: Any) -> None:
        calls.append(len(arguments))
        await answer(*arguments)

    async with serve(any_shape, lifespan=False) as url, httpx.AsyncClient(trust_env=False) as client:
        await client.get(url)
    assert calls == [3]
