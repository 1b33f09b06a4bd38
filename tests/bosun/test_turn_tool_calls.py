"""The tool calls of a turn: each is decided on, made at most once, and ends once. No model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from conftest import CountedIds, HandClock, KeptSteps
from crashes import Crash
from sqlalchemy.ext.asyncio import AsyncEngine
from turn_bench import Gadgets, OneTool, Unreachable, open_turn, types, unspent

from bosun.log.events import ReviewDecision
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog
from bosun.model.guardian import Guardian
from bosun.stores.postgres import create_engine
from bosun.tools import ToolContext
from bosun.turn.tool_calls import FAULT, INTERRUPTED, NOT_MADE, ToolCalls, ToolNameTaken


@pytest.mark.asyncio
async def test_a_call_is_decided_on_begun_and_ended_in_that_order(engine: AsyncEngine) -> None:
    """The tool runs for the actor of the turn, with what the model wrote."""
    bench = await open_turn(engine)
    await bench.ask(("note", '{"text": "it"}'))
    (progress,) = (await bench.settle()).calls
    assert await types(bench) == ["guardian_action_reviewed", "tool_execution_started", "tool_result"]
    assert await bench.ends() == [("succeeded", "note it")]
    context = ToolContext(
        conversation_id="web:c",
        account_id="standard",
        actor_id="morgan",
        turn_id=bench.turn.id,
        call_id=progress.call.id,
    )
    assert bench.gadgets.done == [("note", context, "it")]
    assert [(step.name, step.fields) for step in bench.steps.steps] == [
        ("tool.called", {"name": "note", "callId": progress.call.id}),
        ("guardian.reviewed", {"tool": "note", "decision": "allow"}),
        ("tool.finished", {"name": "note", "status": "succeeded"}),
    ]


@pytest.mark.asyncio
async def test_a_call_that_is_not_allowed_is_not_made_and_the_model_is_told(engine: AsyncEngine) -> None:
    """The decision is stored all the same."""
    bench = await open_turn(engine)
    await bench.ask(("post", "{}"))
    await bench.settle()
    assert await types(bench) == ["guardian_action_reviewed", "tool_result"]
    assert await bench.ends() == [("denied", "Error: the call was not allowed: no review is available.")]
    assert bench.gadgets.done == []
    assert bench.steps.names == ["tool.called", "guardian.reviewed", "tool.finished"]


@pytest.mark.asyncio
async def test_a_call_that_cannot_be_made_is_not_decided_on_and_the_model_is_told_why(engine: AsyncEngine) -> None:
    """The calls beside it are made."""
    bench = await open_turn(engine)
    await bench.ask(("lok", "{}"), ("look", '{"text": '), ("look", '{"words": "it"}'), ("look", '{"text": "it"}'))
    await bench.settle()
    assert await bench.ends() == [
        ("failed", "Error: there is no tool 'lok'; the tools are: look, note, post, refuse, break, wait."),
        ("failed", "Error: the arguments are not valid JSON."),
        ("failed", "Error: the arguments do not fit: words: Extra inputs are not permitted."),
        ("succeeded", "look it"),
    ]
    assert (await types(bench)).count("guardian_action_reviewed") == 1
    assert bench.gadgets.names == ["look"]


@pytest.mark.asyncio
async def test_a_tool_that_fails_ends_its_call_and_not_the_turn(engine: AsyncEngine) -> None:
    """Its own words are for the model; those of a fault are for whoever runs Bosun."""
    bench = await open_turn(engine)
    await bench.ask(("refuse", "{}"), ("break", "{}"), ("look", "{}"))
    await bench.settle()
    assert await bench.ends() == [
        ("failed", "Error: there is nothing of that name."),
        ("failed", FAULT),
        ("succeeded", "look "),
    ]


@pytest.mark.asyncio
async def test_an_absent_store_is_no_result(engine: AsyncEngine) -> None:
    """The turn is tried again, and then knows that the call was begun."""
    bench = await open_turn(engine)
    broken = bench.gadgets.tool("away", "read", fault=ConnectionError("gone"))
    calls = ToolCalls(
        [OneTool(broken)],
        log=bench.log,
        reader=bench.reader,
        guardian=Guardian(Unreachable()),
        steps=bench.steps,
        most=150,
    )
    await bench.ask(("away", "{}"))
    with pytest.raises(ConnectionError):
        await calls.settle(bench.turn, "standard", asked="Do.", spend=unspent)
    assert await bench.ends() == []
    await calls.settle(bench.turn, "standard", asked="Do.", spend=unspent)
    assert await bench.ends() == [("timed_out", INTERRUPTED)]
    assert bench.gadgets.names == ["away"]


@pytest.mark.asyncio
async def test_calls_over_the_limit_of_a_turn_fail_and_no_tools_are_offered(engine: AsyncEngine) -> None:
    """The log counts, through all the answers of the turn."""
    bench = await open_turn(engine, most=2)
    assert len(bench.calls.offered(await bench.settle())) == 6
    await bench.ask(("look", "{}"))
    assert len(bench.calls.offered(await bench.settle())) == 6
    await bench.ask(("look", "{}"), ("look", "{}"), request=2)
    assert bench.calls.offered(await bench.settle()) == ()
    assert [status for status, _ in await bench.ends()] == ["succeeded", "succeeded", "failed"]
    assert (await bench.ends())[2][1] == "Error: one turn may make 2 tool calls, and this would be one more."
    assert bench.gadgets.names == ["look", "look"]


@pytest.mark.asyncio
async def test_the_calls_of_a_turn_that_fails_have_ends_too(engine: AsyncEngine) -> None:
    """Of one that was begun it is not known whether it was done; the others were not made."""
    bench = await open_turn(engine)
    await bench.ask(("look", "{}"), ("look", "{}"), ("look", "{}"))
    bench.gadgets.crash_within = {2}
    with pytest.raises(Crash):
        await bench.settle()
    await bench.calls.abandon(bench.turn)
    await bench.calls.abandon(bench.turn)
    assert await bench.ends() == [("succeeded", "look "), ("timed_out", INTERRUPTED), ("failed", NOT_MADE)]
    assert bench.gadgets.names == ["look", "look"]


@pytest.mark.parametrize(
    ("decision", "told"),
    [("ask", "a person has to agree to this call first"), ("deny", "the call was not allowed")],
)
@pytest.mark.asyncio
async def test_what_was_decided_is_not_decided_again(engine: AsyncEngine, decision: ReviewDecision, told: str) -> None:
    """The stored decision counts, whatever the guardian would say now."""
    bench = await open_turn(engine)
    await bench.ask(("look", "{}"))
    (progress,) = (await bench.reader.tool_progress(bench.turn)).calls
    await bench.log.record_review(
        bench.turn, progress.call, effect="read", decision=decision, risk="high", reason="somebody said so", by="model"
    )
    await bench.settle()
    assert await bench.ends() == [("denied", f"Error: {told}: somebody said so.")]
    assert bench.gadgets.done == []


@pytest.mark.asyncio
async def test_two_attempts_at_once_make_a_call_once(engine: AsyncEngine) -> None:
    """One of them has lost its lease and does not know yet."""
    bench = await open_turn(engine)
    await bench.ask(*[("note", "{}")] * 5)
    await asyncio.gather(*(bench.settle() for _ in range(4)))
    made = [context.call_id for _, context, _ in bench.gadgets.done]
    assert len(made) == len(set(made)) <= 5
    assert len(await bench.ends()) == 5


def test_two_tools_of_one_name_do_not_fit_together() -> None:
    """Nobody could say which one a model means."""
    with pytest.raises(ToolNameTaken, match="'gadgets' and 'gizmos' both have a tool named 'look'"):
        compose([Gadgets(), Gadgets("gizmos")])


def compose(plugins: Sequence[Gadgets]) -> ToolCalls:
    """Put plugins together for a log that is never asked."""
    engine = create_engine("postgresql:///nowhere")
    log = ConversationLog(engine, clock=HandClock(), ids=CountedIds())
    reader = ConversationReader(engine)
    return ToolCalls(plugins, log=log, reader=reader, guardian=Guardian(Unreachable()), steps=KeptSteps(), most=1)
