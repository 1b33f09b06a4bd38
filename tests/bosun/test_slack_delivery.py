"""Delivery to Slack: each part once, whatever fails between; and what people read of what could not be delivered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from slack_server import CHANNEL, DIRECT, ROOT, Fault, SlackServer, slack_server
from slack_turn_bench import CONVERSATION, THREE_PARTS, SlackBench
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.log.events import DeliveryStarted, TokenUsage
from bosun.slack.client import BACKOFF_SECONDS, LONGEST_WAIT_SECONDS, TRIES
from bosun.slack.delivery import STOPPED, UNDELIVERED
from bosun.turn.lifecycle import Answered, Failed, Silent

USAGE = {"agent": TokenUsage(input_tokens=3)}
CUT_BEFORE, CUT_AFTER = Fault(moment="before"), Fault(moment="after")
LIMITED = Fault("ratelimited", 429, "7")


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    """A Slack of its own."""
    with slack_server() as server:
        yield server


@pytest.fixture
def bench(engine: AsyncEngine, slack: SlackServer) -> Iterator[SlackBench]:
    """A thread in a channel."""
    bench = SlackBench(engine, slack)
    yield bench
    bench.close()


@pytest.mark.asyncio
async def test_an_answer_is_stored_then_posted_then_committed(bench: SlackBench, slack: SlackServer) -> None:
    """Nothing is read in the thread before a first try; the model's Markdown is Slack's when it is there."""
    turn = await bench.open()
    await bench.delivery.end(turn, Answered("**Yes**, <at> once."), USAGE)
    assert slack.methods == ["chat.postMessage"]
    (posted,) = slack.called("chat.postMessage")
    assert (posted["channel"], posted["thread_ts"], posted["text"]) == (CHANNEL, ROOT, "*Yes*, &lt;at&gt; once.")
    assert posted["metadata"] == {
        "event_type": "bosun_reply",
        "event_payload": {"key": turn.id, "part": 1, "of": 1},
    }
    assert await bench.seen() == [("answer", "**Yes**, <at> once.", turn.id)]
    assert (await bench.types())[-5:] == [
        "delivery_started",
        "message",
        "assistant_message",
        "message_handled",
        "turn_completed",
    ]
    assert bench.steps.names == ["reply.delivered", "turn.completed"]


@pytest.mark.asyncio
async def test_a_long_answer_is_several_messages_in_order(bench: SlackBench, slack: SlackServer) -> None:
    """One message of the log is as many of Slack's as it needs."""
    await bench.delivery.end(await bench.open(), Answered(THREE_PARTS), USAGE)
    assert slack.texts == [letter * 3_000 for letter in "abc"]
    assert [text for _, text, _ in await bench.seen()] == [THREE_PARTS]


@pytest.mark.parametrize("posted", range(4))
@pytest.mark.asyncio
async def test_a_resumed_delivery_completes_only_what_is_missing(
    bench: SlackBench, slack: SlackServer, posted: int
) -> None:
    """Page by page, whatever stands between, and whatever others have written with the same metadata."""
    turn = await bench.open()
    started = await stored(bench, turn.id, THREE_PARTS)
    assert await bench.log.start_delivery(started, turn)
    forged = {"metadata": metadata(turn.id, 3), "thread_ts": ROOT, "text": "z", "user": "UOTHER", "bot_id": "BOTHER"}
    strange = {"metadata": {"event_type": "bosun_reply", "event_payload": [1]}, "thread_ts": ROOT, "text": "y"}
    older = {"metadata": metadata("turn:older", 3), "thread_ts": ROOT, "text": "x", "bot_id": "BBOSUN"}
    slack.messages += [{"thread_ts": ROOT, "text": "w"}, forged, strange, older]
    own = [
        {"text": part, "thread_ts": ROOT, "metadata": metadata(turn.id, number), "bot_id": "BBOSUN"}
        for number, part in enumerate(started.parts, start=1)
    ]
    slack.messages += own[:posted]
    resumed = await bench.delivery.resume(turn)
    assert resumed == started
    assert len(slack.called("chat.postMessage")) == 3 - posted
    assert slack.texts[4:] == started.parts
    assert await bench.ends() == [("succeeded", None)]
    assert (await bench.view())["turns"][0]["usage"] == {"agent": USAGE["agent"].model_dump(by_alias=True)}


@pytest.mark.asyncio
async def test_a_delivery_that_was_not_begun_is_not_resumed(bench: SlackBench, slack: SlackServer) -> None:
    """Nothing is asked of Slack."""
    assert await bench.delivery.resume(await bench.open()) is None
    assert slack.calls == []


@pytest.mark.parametrize(
    ("faults", "slept", "looks"),
    [
        ((LIMITED,), [7.0], 0),
        ((LIMITED, LIMITED), [7.0, 7.0], 0),
        ((None, LIMITED), [7.0], 0),
        ((Fault("ratelimited", 429),), [BACKOFF_SECONDS], 0),
        ((Fault("rate_limited", 200),), [BACKOFF_SECONDS], 0),
        ((CUT_BEFORE,), [1.0], 1),
        ((CUT_AFTER,), [1.0], 1),
        ((None, CUT_AFTER, CUT_AFTER), [1.0, 1.0], 2),
        ((Fault("internal_error", 200, moment="after"),), [1.0], 1),
        ((Fault("fatal_error", 500, moment="after"),), [1.0], 1),
        ((Fault("x", 503, moment="after", body=b"<html>"),), [1.0], 1),
        ((Fault("x", 200, moment="after", body=b"<html>"),), [1.0], 1),
        ((Fault("x", 200, moment="after", body=b"[1]"),), [1.0], 1),
        ((Fault("x", 200, moment="after", body=b'{"ok": false, "error": {}}'),), [1.0], 1),
        ((CUT_BEFORE, LIMITED, CUT_AFTER), [1.0, 7.0, 4.0], 2),
    ],
)
@pytest.mark.asyncio
async def test_what_may_pass_is_waited_out_and_posts_nothing_twice(
    bench: SlackBench, slack: SlackServer, faults: tuple[Fault | None, ...], slept: list[float], looks: int
) -> None:
    """After a failure that may have been none, the thread is read first."""
    slack.page = 100
    slack.fail("chat.postMessage", *faults)
    await bench.delivery.end(await bench.open(), Answered(THREE_PARTS), USAGE)
    assert slack.texts == [letter * 3_000 for letter in "abc"]
    assert bench.timer.slept == slept
    assert len(slack.called("conversations.replies")) == looks
    assert await bench.ends() == [("succeeded", None)]


@pytest.mark.asyncio
async def test_a_lost_look_is_looked_for_again_before_anything_is_posted(bench: SlackBench, slack: SlackServer) -> None:
    """What is unsure stays unsure until Slack has said what is there."""
    slack.fail("chat.postMessage", CUT_AFTER)
    slack.fail("auth.test", CUT_BEFORE)
    slack.fail("conversations.replies", LIMITED, CUT_AFTER)
    await bench.delivery.end(await bench.open(), Answered("Yes."), USAGE)
    assert slack.texts == ["Yes."]
    assert bench.timer.slept == [1.0, 2.0, 7.0, 8.0]
    assert await bench.ends() == [("succeeded", None)]


REFUSALS = (
    *("not_in_channel", "channel_not_found", "is_archived", "thread_not_found", "token_revoked", "invalid_auth"),
    *("not_authed", "account_inactive", "missing_scope", "restricted_action", "unheard_of"),
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        *((error, "permission") for error in REFUSALS),
        ("msg_too_long", "invalid_request"),
        ("no_text", "invalid_request"),
        ("invalid_arguments", "invalid_request"),
        ("invalid_metadata_format", "invalid_request"),
    ],
)
@pytest.mark.asyncio
async def test_a_refusal_fails_the_turn_without_further_posts(
    bench: SlackBench, slack: SlackServer, error: str, kind: str
) -> None:
    """People on the web read why."""
    slack.fail("chat.postMessage", None, Fault(error))
    turn = await bench.open()
    await bench.delivery.end(turn, Answered(THREE_PARTS), USAGE)
    assert slack.methods == ["chat.postMessage"] * 2
    assert bench.timer.slept == []
    assert await bench.ends() == [("failed", kind)]
    assert await bench.seen() == [("error", UNDELIVERED[kind], turn.id)]  # type: ignore[index]
    assert bench.steps.names == ["turn.failed"]


@pytest.mark.parametrize(
    ("fault", "kind", "slept"),
    [
        (LIMITED, "rate_limit", [7.0] * (TRIES - 1)),
        (CUT_BEFORE, "network", [1.0, 2.0, 4.0, 8.0]),
        (Fault("internal_error"), "server", [1.0, 2.0, 4.0, 8.0]),
        (Fault("ratelimited", 429, str(int(LONGEST_WAIT_SECONDS) + 1)), "rate_limit", []),
    ],
)
@pytest.mark.asyncio
async def test_waiting_has_an_end(
    bench: SlackBench, slack: SlackServer, fault: Fault, kind: str, slept: list[float]
) -> None:
    """A wait that is too long, or the last of too many tries, is a failure that people see."""
    slack.fail("chat.postMessage", *([fault] * (TRIES + 1)))
    await bench.delivery.end(await bench.open(), Answered("Yes."), USAGE)
    assert bench.timer.slept == slept
    assert (slack.texts, await bench.ends()) == ([], [("failed", kind)])


@pytest.mark.asyncio
async def test_each_part_has_its_own_tries(bench: SlackBench, slack: SlackServer) -> None:
    """A channel that takes one message a second is not a channel that takes none."""
    slow = [LIMITED] * (TRIES - 1)
    slack.fail("chat.postMessage", *slow, None, *slow, None, *slow, None)
    await bench.delivery.end(await bench.open(), Answered(THREE_PARTS), USAGE)
    assert bench.timer.slept == [7.0] * 3 * (TRIES - 1)
    assert await bench.ends() == [("succeeded", None)]


@pytest.mark.asyncio
async def test_a_failure_is_told_in_the_thread_and_keeps_its_kind(bench: SlackBench, slack: SlackServer) -> None:
    """Also where the telling fails."""
    turn = await bench.open()
    await bench.delivery.end(turn, Failed("quota"), USAGE)
    assert slack.texts == ["I could not answer: the model's quota is used up. Whoever runs Bosun has to look."]
    slack.fail("chat.postMessage", Fault("is_archived"))
    second = await bench.log.start_turn(CONVERSATION, [await bench.say("2")])
    await bench.delivery.end(second, Failed("capacity"), USAGE)
    assert await bench.ends() == [("failed", "quota"), ("failed", "capacity")]
    assert bench.steps.names == ["turn.failed", "turn.failed"]


@pytest.mark.asyncio
async def test_a_silence_posts_nothing(bench: SlackBench, slack: SlackServer) -> None:
    """And stores nothing that would be posted."""
    await bench.delivery.end(await bench.open(), Silent(), USAGE)
    assert (slack.calls, await bench.ends()) == ([], [("no_reply", None)])
    assert "delivery_started" not in await bench.types()


@pytest.mark.asyncio
async def test_a_stop_is_told_in_the_thread(bench: SlackBench, slack: SlackServer) -> None:
    """The turn ends without a reply; what waited is discarded; a second stop has nothing to say."""
    turn = await bench.open()
    await bench.delivery.stop(CONVERSATION, turn, [bench.message("1"), bench.message("2")], USAGE)
    assert slack.texts == [STOPPED]
    assert (await bench.seen(), await bench.ends()) == ([("notice", STOPPED, turn.id)], [("no_reply", None)])
    assert await bench.reader.handled(CONVERSATION, ["1", "2"]) == {"1", "2"}
    await bench.delivery.stop(CONVERSATION, None, [], {})
    assert slack.methods == ["chat.postMessage"]


@pytest.mark.asyncio
async def test_a_stop_of_what_had_not_begun_is_told_once(bench: SlackBench, slack: SlackServer) -> None:
    """However often it is carried out."""
    await bench.open_conversation()
    for _ in range(2):
        await bench.delivery.stop(CONVERSATION, None, [bench.message("1")], {})
    assert slack.texts == [STOPPED]
    assert await bench.seen() == [("notice", STOPPED, "")]


@pytest.mark.asyncio
async def test_a_stop_is_a_stop_where_it_cannot_be_told(bench: SlackBench, slack: SlackServer) -> None:
    """Slack's trouble does not keep a turn running."""
    slack.fail("chat.postMessage", Fault("not_in_channel"), Fault("not_in_channel"))
    await bench.delivery.stop(CONVERSATION, await bench.open(), [], USAGE)
    await bench.delivery.stop(CONVERSATION, None, [bench.message("2")], USAGE)
    assert await bench.ends() == [("no_reply", None)]
    assert await bench.reader.handled(CONVERSATION, ["1", "2"]) == {"1", "2"}


@pytest.mark.asyncio
async def test_what_is_no_thread_gets_no_post(engine: AsyncEngine, slack: SlackServer) -> None:
    """A message of Slack's in a conversation that is elsewhere is a fault, and nobody waits for ever."""
    bench = SlackBench(engine, slack, conversation_id="web:c")
    try:
        await bench.delivery.end(await bench.open(), Answered("Yes."), USAGE)
        assert (slack.calls, await bench.ends()) == ([], [("failed", "invalid_request")])
    finally:
        bench.close()


@pytest.mark.asyncio
async def test_in_a_direct_message_the_status_is_taken_back(engine: AsyncEngine, slack: SlackServer) -> None:
    """By the reply, which Slack sees to; by Bosun where it says nothing, or cannot."""
    bench = SlackBench(engine, slack, conversation_id=f"slack:{DIRECT}:{ROOT}")
    try:
        turn = await bench.open()
        await bench.delivery.begin(turn)
        await bench.delivery.end(turn, Silent(), USAGE)
        second = await bench.log.start_turn(bench.id, [await bench.say("2")])
        await bench.delivery.begin(second)
        slack.fail("chat.postMessage", Fault("is_archived"))
        await bench.delivery.end(second, Answered("Yes."), USAGE)
        statuses = [each["status"] for each in slack.called("assistant.threads.setStatus")]
        assert statuses == ["is thinking…", "", "is thinking…", ""]
        third = await bench.log.start_turn(bench.id, [await bench.say("3")])
        slack.calls.clear()
        slack.fail("assistant.threads.setStatus", Fault("channel_not_found"), CUT_BEFORE)
        await bench.delivery.begin(third)
        await bench.delivery.begin(third)
        await bench.delivery.end(third, Answered("Yes."), USAGE)
        assert slack.methods == ["assistant.threads.setStatus"] * 2 + ["chat.postMessage"]
        assert (await bench.ends())[-1] == ("succeeded", None)
    finally:
        bench.close()


async def stored(bench: SlackBench, turn_id: str, text: str) -> DeliveryStarted:
    """Return what an earlier attempt has stored."""
    parts = list(bench.slack.posts.parts(text))
    return DeliveryStarted(turn_id=turn_id, kind="answer", text=text, parts=parts, failure=None, usage=USAGE)


def metadata(key: str, part: int) -> dict[str, object]:
    """Return a part's metadata."""
    return {"event_type": "bosun_reply", "event_payload": {"key": key, "part": part, "of": 3}}
