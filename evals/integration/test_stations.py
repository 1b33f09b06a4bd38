"""A person interrupts a turn that uses a tool at each station of its way, however many there are."""

from __future__ import annotations

from seatrial import (
    Actions,
    AgentUnderTest,
    Conversation,
    Input,
    MakeAgent,
    ModelRequest,
    Progress,
    ToolRequest,
    web_message,
    web_stop,
)

KEEP = "Remember that the launch is on Friday."
THANKS = "Thanks, that is all."


async def test_a_stop_is_heeded_at_every_station(agent: MakeAgent) -> None:
    """What was done before the stop stays done. Nothing is done after it, and people are told once."""
    bosun = await agent(plugins=["memory"])
    for station in await stations(bosun):
        stopped = await interrupted(bosun, station, web_stop())
        assert [turn.status for turn in stopped.turns] == ["no_reply"]
        assert [(reply.kind, "I stopped" in reply.text) for reply in stopped.replies] == [("notice", True)]
        done = ["succeeded"] if station == ModelRequest(2) else []
        assert [call.status for call in stopped.tool_calls] == done
    after = await bosun.run(web_message("Which plan am I on?"))
    assert [turn.status for turn in after.turns] == ["succeeded"]


async def test_what_is_added_at_any_station_is_answered_with_the_rest(agent: MakeAgent) -> None:
    """It joins the turn: one turn, one answer, after both messages; what the model asked for is done once."""
    bosun = await agent(plugins=["memory"])
    for station in await stations(bosun):
        steered = await interrupted(bosun, station, web_message(THANKS))
        assert [turn.status for turn in steered.turns] == ["succeeded"]
        assert [reply.kind for reply in steered.replies] == ["answer"]
        assert [said.text for said in steered.transcript] == [KEEP, THANKS, steered.replies[0].text]


async def stations(bosun: AgentUnderTest) -> list[Progress]:
    """Let one turn go its way undisturbed, and return where a test could have interrupted it."""
    passed: list[Progress] = []

    async def look_on(progress: Progress, actions: Actions) -> None:
        passed.append(progress)

    await bosun.run(web_message(KEEP), on_progress=look_on)
    assert [type(station) for station in passed] == [ModelRequest, ToolRequest, ModelRequest]
    return passed


async def interrupted(bosun: AgentUnderTest, station: Progress, by: Input) -> Conversation:
    """Start the turn in a new conversation, and send something when it comes to this station."""

    async def interrupt(progress: Progress, actions: Actions) -> None:
        if progress == station:
            await actions.send(by)

    return await bosun.run(web_message(KEEP), on_progress=interrupt)
