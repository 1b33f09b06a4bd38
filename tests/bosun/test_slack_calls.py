"""Everything else that Bosun does on Slack: statuses, titles, names, words for one person, reactions."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator

import pytest
from conftest import HandClock
from hand_timer import HandTimer
from slack_server import CHANNEL, DIRECT, ROOT, Fault, SlackServer, slack_server
from slack_turn_bench import CONVERSATION, EagerTimer, SlackBench
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.machine import SystemTimer
from bosun.slack.actions import AWAY, CLOSED, MAYBE, NO_CHANNEL, NO_EMOJI, NOT_ALLOWED, NOT_HERE, NOT_IN
from bosun.slack.channel import SlackThread
from bosun.slack.client import TRIES, SlackClient, SlackFailure
from bosun.slack.names import SECONDS, SlackNames
from bosun.slack.options import SlackOptions
from bosun.slack.prompts import SlackPrompts
from bosun.slack.statuses import SlackStatuses
from bosun.tools import ToolFailed

CUT = Fault(moment="after")
IN_CHANNEL, IN_DIRECT = SlackThread(CHANNEL, ROOT), SlackThread(DIRECT, ROOT)


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    """A Slack of its own."""
    with slack_server() as server:
        yield server


@pytest.fixture
def client(slack: SlackServer) -> Iterator[SlackClient]:
    """A client whose waits take no time."""
    client = SlackClient(slack.options(), timer=EagerTimer())
    yield client
    client.close()


@pytest.mark.asyncio
async def test_statuses_and_titles_are_for_direct_messages(client: SlackClient, slack: SlackServer) -> None:
    """In a channel they would be for everybody; on the web there is none."""
    statuses = SlackStatuses(client)
    for conversation_id in (CONVERSATION, "web:c", IN_DIRECT.conversation_id):
        await statuses.working(conversation_id, True)
        await statuses.title(conversation_id, "A title")
    where = {"channel_id": DIRECT, "thread_ts": ROOT}
    assert slack.calls == [
        ("assistant.threads.setStatus", {**where, "status": "is thinking…"}),
        ("assistant.threads.setTitle", {**where, "title": "A title"}),
    ]


@pytest.mark.parametrize("fault", [CUT, Fault("channel_not_found"), Fault("ratelimited", 429, "30")])
@pytest.mark.asyncio
async def test_a_status_that_cannot_be_set_is_nobodys_problem(
    client: SlackClient, slack: SlackServer, fault: Fault
) -> None:
    """It is tried once."""
    slack.fail("assistant.threads.setStatus", fault)
    slack.fail("assistant.threads.setTitle", fault)
    await SlackStatuses(client).working(IN_DIRECT.conversation_id, True)
    await SlackStatuses(client).title(IN_DIRECT.conversation_id, "A title")
    assert len(slack.calls) == 2


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"name": "m", "real_name": "R", "profile": {"display_name": " D ", "real_name": "P"}}, "D"),
        ({"name": "m", "real_name": "R", "profile": {"display_name": "", "real_name": "P"}}, "P"),
        ({"name": "m", "real_name": "R", "profile": None}, "R"),
        ({"name": "m", "real_name": 7}, "m"),
        ({}, None),
        ("m", None),
    ],
)
@pytest.mark.asyncio
async def test_a_name_is_the_one_that_slack_would_show(slack: SlackServer, user: object, name: str | None) -> None:
    """Or none, where Slack says nothing that is a name."""
    slack.fail("users.info", Fault(body=json.dumps({"ok": True, "user": user}).encode()))
    client = SlackClient(slack.options(), timer=SystemTimer())
    try:
        assert await SlackNames(client, EagerTimer()).name("U1") == name
        assert slack.calls == [("users.info", {"user": "U1"})]
    finally:
        client.close()


@pytest.mark.parametrize("fault", [CUT, Fault("user_not_found"), Fault("ratelimited", 429, "30")])
@pytest.mark.asyncio
async def test_a_name_that_is_not_told_is_not_waited_for(client: SlackClient, slack: SlackServer, fault: Fault) -> None:
    """The message is more urgent."""
    slack.fail("users.info", fault)
    assert await SlackNames(client, EagerTimer()).name("U1") is None


@pytest.mark.asyncio
async def test_a_name_has_two_seconds_of_the_apps_time(client: SlackClient, slack: SlackServer) -> None:
    """Whatever Slack is busy with."""
    slack.held["users.info"] = gate = threading.Event()
    timer = HandTimer(HandClock())
    asked = asyncio.create_task(SlackNames(client, timer).name("U1"))
    await asyncio.to_thread(slack.arrived.wait)
    timer.advance(SECONDS - 0.1)
    assert not asked.done()
    timer.advance(0.1)
    assert await asked is None
    gate.set()


@pytest.mark.asyncio
async def test_words_for_one_person_are_seen_by_that_person(client: SlackClient, slack: SlackServer) -> None:
    """In a channel they are ephemeral; where only that person reads, they are a message."""
    prompts = SlackPrompts(client)
    assert await prompts.tell(IN_CHANNEL, "U1", "A link") is None
    assert await prompts.tell(IN_DIRECT, "U1", "A link") is None
    assert slack.calls == [
        ("chat.postEphemeral", {"channel": CHANNEL, "thread_ts": ROOT, "user": "U1", "text": "A link"}),
        ("chat.postMessage", {"channel": DIRECT, "thread_ts": ROOT, "text": "A link"}),
    ]


@pytest.mark.parametrize(
    ("faults", "trouble", "calls"),
    [
        ((Fault("ratelimited", 429, "3"),), None, 2),
        ((Fault("user_not_in_channel"),), "permission", 1),
        ((CUT,), "network", 1),
        ((Fault("ratelimited", 429, "3"),) * TRIES, "rate_limit", TRIES),
    ],
)
@pytest.mark.asyncio
async def test_words_for_one_person_are_not_said_twice(
    client: SlackClient, slack: SlackServer, faults: tuple[Fault, ...], trouble: str | None, calls: int
) -> None:
    """A lost one may have arrived, and cannot be looked for."""
    slack.fail("chat.postEphemeral", *faults)
    assert await SlackPrompts(client).tell(IN_CHANNEL, "U1", "A link") == trouble
    assert len(slack.calls) == calls


@pytest.mark.asyncio
async def test_a_reaction_is_put_under_the_message_that_is_answered(engine: AsyncEngine, slack: SlackServer) -> None:
    """The latest that the turn has taken in. Again is as good; a lost one is tried again."""
    bench = SlackBench(engine, slack)
    try:
        turn = await bench.open()
        await bench.log.join_turn(turn, [bench.message("2")])
        slack.fail("reactions.add", CUT)
        for _ in range(2):
            await bench.slack.actions.react(bench.id, turn.id, "tada")
        assert slack.reactions == [("1700000000.000002", "tada")]
        assert slack.called("reactions.add")[0] == {
            "channel": CHANNEL,
            "timestamp": "1700000000.000002",
            "name": "tada",
        }
    finally:
        bench.close()


@pytest.mark.parametrize(
    ("faults", "told"),
    [
        ((Fault("invalid_name"),), NO_EMOJI),
        ((Fault("too_many_reactions"),), NOT_ALLOWED),
        ((Fault("message_not_found"),), NOT_ALLOWED),
        ((Fault(),) * TRIES, AWAY),
    ],
)
@pytest.mark.asyncio
async def test_a_reaction_that_cannot_be_is_told_to_the_model(
    engine: AsyncEngine, slack: SlackServer, faults: tuple[Fault, ...], told: str
) -> None:
    """In a sentence of Bosun's."""
    bench = SlackBench(engine, slack)
    try:
        turn = await bench.open()
        slack.fail("reactions.add", *faults)
        with pytest.raises(ToolFailed, match=told):
            await bench.slack.actions.react(bench.id, turn.id, "tada")
    finally:
        bench.close()


@pytest.mark.parametrize(("conversation_id", "source"), [(CONVERSATION, "web"), ("web:c", "web"), ("web:c", "slack")])
@pytest.mark.asyncio
async def test_what_was_not_written_on_slack_has_no_reactions(
    engine: AsyncEngine, slack: SlackServer, conversation_id: str, source: str
) -> None:
    """A reply on the web, in a thread too, has nothing to do with Slack."""
    bench = SlackBench(engine, slack, conversation_id=conversation_id)
    try:
        await bench.open_conversation()
        turn = await bench.log.start_turn(bench.id, [await bench.say("1", source)])
        with pytest.raises(ToolFailed, match=NOT_HERE):
            await bench.slack.actions.react(bench.id, turn.id, "tada")
        with pytest.raises(ToolFailed, match=NOT_HERE):
            await bench.slack.actions.react(bench.id, "turn:none", "tada")
        assert slack.calls == []
    finally:
        bench.close()


@pytest.mark.asyncio
async def test_nobody_there_is_a_network_failure() -> None:
    """No call counts twice by the client's own doing, either."""
    options = SlackOptions(bot_token="t", signing_secret="s", account_id="a", base_url="http://127.0.0.1:9/api/")
    client = SlackClient(options, timer=EagerTimer())
    try:
        with pytest.raises(SlackFailure) as raised:
            await client.call(lambda web: web.auth_test())
        assert (raised.value.kind, raised.value.may_have_counted) == ("network", True)
    finally:
        client.close()


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"bot_token": " "}, "bot_token is empty"),
        ({"signing_secret": ""}, "signing_secret is empty"),
        ({"account_id": ""}, "account_id is empty"),
        ({"base_url": "slack.com/api/"}, "base_url"),
        ({"base_url": "https://slack.com/api"}, "last slash"),
    ],
)
def test_options_that_no_call_could_be_made_with_are_refused(more: dict[str, str], problem: str) -> None:
    """And none shows a secret."""
    given = {"bot_token": "xoxb-1", "signing_secret": "hidden", "account_id": "a"}
    with pytest.raises(ValueError, match=problem):
        SlackOptions(**{**given, **more})
    shown = repr(SlackOptions(**given))
    assert "xoxb-1" not in shown
    assert "hidden" not in shown


@pytest.mark.parametrize(
    ("faults", "told", "calls"),
    [
        ((), None, 1),
        ((Fault("ratelimited", 429, "30"),), None, 2),
        ((CUT,), MAYBE, 1),
        ((Fault("fatal_error"),), MAYBE, 1),
        ((Fault("channel_not_found"),), NO_CHANNEL, 1),
        ((Fault("not_in_channel"),), NOT_IN, 1),
        ((Fault("is_archived"),), CLOSED, 1),
        ((Fault("restricted_action"),), NOT_ALLOWED, 1),
        ((Fault("ratelimited", 429, "30"),) * TRIES, AWAY, TRIES),
    ],
)
@pytest.mark.asyncio
async def test_a_message_to_another_channel_is_never_sent_twice(
    engine: AsyncEngine, slack: SlackServer, faults: tuple[Fault, ...], told: str | None, calls: int
) -> None:
    """It is tried again where Slack surely did not take it; otherwise the model is told what nobody knows."""
    bench = SlackBench(engine, slack)
    slack.fail("chat.postMessage", *faults)
    try:
        if told is None:
            await bench.slack.actions.say("#sales", "**Monday**")
        else:
            with pytest.raises(ToolFailed, match=re.escape(told)):
                await bench.slack.actions.say("#sales", "**Monday**")
    finally:
        bench.close()
    sent = slack.called("chat.postMessage")
    assert [(each["channel"], each["text"]) for each in sent] == [("#sales", "*Monday*")] * calls
