"""The harness hands out work one piece at a time, in a fixed order, and knows when nothing is left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from seatrial.clock import VirtualTimer
from seatrial.idle import NotIdle, until_idle
from seatrial.work import BackgroundWork, Parcel, WorkQueue


def world() -> tuple[WorkQueue, BackgroundWork, VirtualTimer]:
    timer = VirtualTimer()
    return WorkQueue(timer), BackgroundWork(), timer


async def with_worker(
    queue: WorkQueue, handle: Callable[[str, str], Awaitable[None]], body: Callable[[], Awaitable[None]]
) -> None:
    async def worker() -> None:
        while True:
            parcel = await queue.take()
            await handle(parcel.subject, parcel.reason)
            queue.finish(parcel.number)

    task = asyncio.ensure_future(worker())
    try:
        await body()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def nothing() -> tuple[str, ...]:
    return ()


async def told_of_nothing(parcel: Parcel) -> None:
    return None


async def idle(
    queue: WorkQueue,
    background: BackgroundWork,
    timer: VirtualTimer,
    *,
    errors: Callable[[], tuple[str, ...]] = nothing,
    waits: Callable[[], bool] = lambda: False,
    paused: Callable[[Parcel], Awaitable[None]] = told_of_nothing,
    seconds: float = 60.0,
) -> None:
    """Run all that is due, for an agent that has nothing of its own."""
    await until_idle(
        queue,
        background,
        timer,
        agent_pending=nothing,
        agent_errors=errors,
        waits_for_upstream=waits,
        paused=paused,
        seconds=seconds,
    )


def test_conversation_work_runs_before_titles_and_titles_before_plugin_tasks() -> None:
    async def scenario() -> list[str]:
        queue, background, timer = world()
        order: list[str] = []

        def task(kind: str, name: str) -> None:
            async def work() -> None:
                order.append(f"{kind} {name}")

            background.submit(kind, name, work)

        async def handle(subject: str, reason: str) -> None:
            order.append(subject)
            if subject == "a":
                task("plugin_task", "p")
                task("title", "t")
                queue.send("b", "message", 0)

        async def body() -> None:
            queue.send("a", "message", 0)
            await idle(queue, background, timer)

        await with_worker(queue, handle, body)
        return order

    assert asyncio.run(scenario()) == ["a", "b", "title t", "plugin_task p"]


def test_time_moves_to_a_busy_renudge_and_not_to_other_dated_work() -> None:
    async def scenario() -> tuple[list[tuple[str, float]], float]:
        queue, background, timer = world()
        seen: list[tuple[str, float]] = []

        async def handle(subject: str, reason: str) -> None:
            seen.append((reason, timer.monotonic()))

        async def body() -> None:
            queue.send("c", "resume", 3600)
            queue.send("c", "busy", 15)
            await idle(queue, background, timer)

        await with_worker(queue, handle, body)
        return seen, timer.monotonic()

    assert asyncio.run(scenario()) == ([("busy", 15.0)], 15.0)


def test_a_paused_turn_goes_on_after_who_looks_on_was_told_and_before_anything_else_of_later() -> None:
    async def scenario() -> list[str]:
        queue, background, timer = world()
        order: list[str] = []

        async def handle(subject: str, reason: str) -> None:
            order.append(f"{reason} runs")
            if len(order) == 1:
                queue.send("c", "resume", 0)

        async def paused(parcel: Parcel) -> None:
            order.append(f"{parcel.reason} told")
            queue.send("c", "message", 0)

        async def body() -> None:
            queue.send("c", "message", 0)
            await idle(queue, background, timer, paused=paused)

        await with_worker(queue, handle, body)
        return order

    assert asyncio.run(scenario()) == ["message runs", "resume told", "resume runs", "message runs"]


def test_an_attempt_that_is_to_be_repeated_later_is_not_over_and_is_named() -> None:
    async def scenario() -> tuple[tuple[str, ...], float]:
        queue, background, timer = world()

        async def handle(subject: str, reason: str) -> None:
            queue.send(subject, "repair", 15)
            queue.send(subject, "resume", 3600)

        async def body() -> None:
            queue.send("c", "message", 0)
            with pytest.raises(NotIdle, match="although nothing is due") as caught:
                await idle(queue, background, timer)
            seen.append(caught.value.pending)

        seen: list[tuple[str, ...]] = []
        await with_worker(queue, handle, body)
        return seen[0], timer.monotonic()

    assert asyncio.run(scenario()) == (("repair nudge for c (due in 15 s)",), 0.0)


def test_an_agent_that_only_waits_moves_no_time_and_its_wait_is_named() -> None:
    async def scenario() -> tuple[tuple[str, ...], float]:
        queue, background, timer = world()

        async def checks_in(subject: str, reason: str) -> None:
            while True:
                await timer.sleep(15)

        async def body() -> None:
            queue.send("c", "message", 0)
            await idle(queue, background, timer, seconds=0.05)

        with pytest.raises(NotIdle) as caught:
            await with_worker(queue, checks_in, body)
        return caught.value.pending, timer.monotonic()

    pending, elapsed = asyncio.run(scenario())
    assert pending == (
        "message nudge for c (running)",
        "a wait on the trial's time, which ends when it is moved by 15 s",
    )
    assert elapsed == 0.0


def test_the_wait_that_follows_an_error_moves_time_and_no_wait_of_the_next_work_does() -> None:
    async def scenario() -> tuple[list[float], float]:
        queue, background, timer = world()
        seen: list[float] = []

        async def handle(subject: str, reason: str) -> None:
            lease = asyncio.ensure_future(timer.sleep(15))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if subject == "retries":
                timer.follow_next_sleep(True)  # as the gateway does when it gives an error
                await timer.sleep(2)
            if subject == "gives up":
                timer.follow_next_sleep(True)
            seen.append(timer.monotonic())
            lease.cancel()

        async def body() -> None:
            for subject in ("retries", "gives up", "waits"):
                queue.send(subject, "message", 0)
            await idle(queue, background, timer)

        await with_worker(queue, handle, body)
        return seen, timer.monotonic()

    assert asyncio.run(scenario()) == ([2.0, 2.0, 2.0], 2.0)


def test_an_agent_that_never_finishes_is_named_with_its_pending_work() -> None:
    async def scenario() -> tuple[str, ...]:
        queue, background, timer = world()

        async def never(subject: str, reason: str) -> None:
            await asyncio.get_running_loop().create_future()

        async def body() -> None:
            queue.send("web:1", "message", 0)
            await idle(queue, background, timer, seconds=0.05)

        with pytest.raises(NotIdle) as caught:
            await with_worker(queue, never, body)
        return caught.value.pending

    assert asyncio.run(scenario()) == ("message nudge for web:1 (running)",)


def test_an_agent_that_failed_is_not_waited_for() -> None:
    async def scenario() -> tuple[str, ...]:
        queue, background, timer = world()

        async def never(subject: str, reason: str) -> None:
            await asyncio.get_running_loop().create_future()

        async def body() -> None:
            queue.send("web:1", "message", 0)
            await idle(queue, background, timer, errors=lambda: ("the store is gone",), waits=lambda: True)

        with pytest.raises(NotIdle, match="the store is gone") as caught:
            await with_worker(queue, never, body)
        return caught.value.errors

    assert asyncio.run(scenario()) == ("the store is gone",)


def test_waiting_for_a_recording_upstream_does_not_count() -> None:
    async def scenario() -> int:
        queue, background, timer = world()
        asked = 0
        release = asyncio.Event()

        async def handle(subject: str, reason: str) -> None:
            await release.wait()

        def waits() -> bool:
            nonlocal asked
            asked += 1
            if asked == 3:
                release.set()
            return True

        async def body() -> None:
            queue.send("web:1", "message", 0)
            await idle(queue, background, timer, waits=waits, seconds=0.02)

        await with_worker(queue, handle, body)
        return asked

    assert asyncio.run(scenario()) == 3


def test_a_background_task_that_raises_is_a_failure_and_the_next_still_runs() -> None:
    async def scenario() -> tuple[tuple[str, ...], list[str]]:
        queue, background, timer = world()
        ran: list[str] = []

        async def bad() -> None:
            raise OSError("disk is full")

        async def good() -> None:
            ran.append("good")

        background.submit("title", "c", bad)
        background.submit("title", "d", good)
        await idle(queue, background, timer)
        return background.failures(), ran

    assert asyncio.run(scenario()) == (("title c: OSError: disk is full",), ["good"])


def test_background_work_of_an_unknown_kind_is_refused() -> None:
    async def work() -> None:
        return None

    with pytest.raises(ValueError, match="'cleanup'"):
        BackgroundWork().submit("cleanup", "c", work)


def test_a_parcel_that_was_lost_may_be_finished_late() -> None:
    async def scenario() -> tuple[str, ...]:
        queue, _, _ = world()
        queue.finish(99)
        queue.send("c", "message", 0)
        return queue.pending()

    assert asyncio.run(scenario()) == ("message nudge for c",)


def test_what_was_handed_out_dies_with_who_had_it_and_what_waits_is_handed_to_the_next() -> None:
    async def scenario() -> tuple[list[tuple[str, ...]], list[str]]:
        queue, background, timer = world()
        seen: list[tuple[str, ...]] = []
        handled: list[str] = []
        arrived = asyncio.Event()

        async def dies(subject: str, reason: str) -> None:
            arrived.set()
            await asyncio.Event().wait()

        async def handle(subject: str, reason: str) -> None:
            handled.append(subject)

        async def killed() -> None:
            running = asyncio.ensure_future(idle(queue, background, timer))
            await arrived.wait()
            seen.append(queue.pending())
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        queue.send("first", "message", 0)
        queue.send("second", "message", 0)
        await with_worker(queue, dies, killed)
        queue.lose()
        seen.append(queue.pending())
        await with_worker(queue, handle, lambda: idle(queue, background, timer))
        return seen, handled

    seen, handled = asyncio.run(scenario())
    assert seen == [
        ("message nudge for first (running)", "message nudge for second"),
        ("message nudge for second",),
    ]
    assert handled == ["second"]


def test_who_waited_for_work_when_he_died_gets_none() -> None:
    async def scenario() -> list[str]:
        queue, background, timer = world()
        handled: list[str] = []
        dead = asyncio.ensure_future(queue.take())
        await asyncio.sleep(0)
        dead.cancel()
        await asyncio.gather(dead, return_exceptions=True)
        queue.lose()

        async def handle(subject: str, reason: str) -> None:
            handled.append(subject)

        queue.send("c", "message", 0)
        await with_worker(queue, handle, lambda: idle(queue, background, timer))
        return handled

    assert asyncio.run(scenario()) == ["c"]


def test_background_work_that_waits_is_lost_with_who_submitted_it() -> None:
    async def scenario() -> tuple[str, ...]:
        background = BackgroundWork()

        async def work() -> None:
            raise AssertionError("the dead do not work")

        background.submit("title", "c", work)
        background.lose()
        return background.pending()

    assert asyncio.run(scenario()) == ()
