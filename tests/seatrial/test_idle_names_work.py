"""An agent that does not become idle is told with everything that is still to be done, whoever has it in hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from seatrial.clock import VirtualTimer
from seatrial.idle import NotIdle, until_idle
from seatrial.work import BackgroundWork, WorkQueue


def not_idle(
    *,
    nudges: tuple[str, ...] = (),
    tasks: tuple[tuple[str, str], ...] = (),
    agent: Callable[[], tuple[str, ...]] = tuple,
    held: Callable[[], tuple[str, ...]] = tuple,
) -> NotIdle:
    """Give an agent work that never ends, and return what the trial says of it."""

    async def never(*_: str) -> None:
        await asyncio.get_running_loop().create_future()

    async def scenario() -> NotIdle:
        timer = VirtualTimer()
        queue, background = WorkQueue(timer), BackgroundWork()
        for subject in nudges:
            queue.send(subject, "message", 0)
        for kind, name in tasks:
            background.submit(kind, name, never)

        worker = asyncio.ensure_future(queue.take())
        with pytest.raises(NotIdle) as caught:
            await until_idle(
                queue,
                background,
                timer,
                agent_pending=agent,
                agent_errors=tuple,
                waits_for_upstream=lambda: False,
                held=held,
                seconds=0.05,
            )
        worker.cancel()
        return caught.value

    return asyncio.run(scenario())


def test_nudges_are_named_with_the_one_that_runs_first() -> None:
    error = not_idle(nudges=("web:1", "web:2"))
    assert error.pending == ("message nudge for web:1 (running)", "message nudge for web:2")


def test_background_work_is_named_by_kind_and_name_whether_it_runs_or_waits() -> None:
    error = not_idle(tasks=(("plugin_task", "web:1"), ("title", "web:2"), ("title", "web:3")))
    assert error.pending == ("title web:2 (running)", "plugin_task web:1", "title web:3")


def test_what_the_agent_and_the_gateway_hold_is_named_beside_the_queue() -> None:
    error = not_idle(
        nudges=("web:1",),
        tasks=(("title", "web:2"),),
        agent=lambda: ("a poll of the agent's own",),
        held=lambda: ("a request that is held",),
    )
    assert error.pending == (
        "message nudge for web:1 (running)",
        "a request that is held",
        "title web:2",
        "a poll of the agent's own",
    )
    assert str(error) == f"the agent is not idle after 0.05 s; pending: {'; '.join(error.pending)}"


def test_work_that_the_agent_names_when_nothing_else_is_due_is_pending_all_the_same() -> None:
    error = not_idle(agent=lambda: ("a poll of the agent's own",))
    assert error.pending == ("a poll of the agent's own",)
    assert "although nothing is due" in str(error)
