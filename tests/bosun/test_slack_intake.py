"""What is taken in from Slack, by the real route on real stores: for whom it is, whose, and what is kept of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from conftest import HandClock
from redis.asyncio import Redis
from slack_bodies import (
    BOT,
    CHANNEL,
    DIRECT,
    LATER,
    OTHER,
    PERSON,
    ROOT,
    TEAM,
    TS,
    Body,
    app_mention,
    assistant_started,
    changed,
    deleted,
    direct,
    encoded,
    envelope,
    message,
)
from slack_ingress import signed
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, open_web

from bosun.http.slack import PATH
from bosun.identity import SCOPES, Actor, create_token
from bosun.log.messages import InboundMessage
from bosun.log.reading import ConversationReader
from bosun.machine import SystemIds
from bosun.slack.intake import is_stop, revision_of
from bosun.slack.people import LinkRefused, SlackPeople, link_slack_user, own_identity

pytestmark = pytest.mark.asyncio

THREAD = f"slack:{CHANNEL}:{TS}"
SECOND = "1700000150.000100"


@pytest_asyncio.fixture
async def web(engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Web]:
    """The routes on empty stores."""
    async with open_web(engine, redis, clock) as web:
        yield web


async def send(web: Web, clock: HandClock, body: Body) -> str:
    """Send an event as Slack does; return what became of it."""
    content = encoded(envelope(body))
    answer = await web.client.post(PATH, content=content, headers=signed(content, clock))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["status"])


async def waiting(web: Web, conversation_id: str = THREAD) -> list[InboundMessage]:
    """Return what waits in a conversation's mailbox."""
    return list((await web.mailbox.state(conversation_id)).pending)


async def begin_turn(web: Web) -> Any:
    """Take up what waits, as a worker does; return the lease."""
    taken = await web.mailbox.take(THREAD)
    for said in await waiting(web):
        await web.log.accept_message(THREAD, said)
    await web.log.start_turn(THREAD, await waiting(web))
    return taken


async def finish(web: Web, taken: Any) -> None:
    """End the turn with an answer and consume its messages."""
    said = await waiting(web)
    await web.log.commit_reply(await web.log.start_turn(THREAD, said), "An answer.")
    await web.mailbox.consume(taken.lease, [each.id for each in said])
    await web.mailbox.release(taken.lease)


async def test_a_mention_is_one_message_of_its_two_events(web: Web, clock: HandClock) -> None:
    """It opens the conversation, and Bosun listens to the thread from then on."""
    assert await send(web, clock, app_mention()) == "accepted"
    assert await send(web, clock, message(f"<@{BOT}> hello")) == "duplicate"
    (said,) = await waiting(web)
    assert (said.text, said.source, said.place, said.addressed) == ("hello", "slack", TS, True)
    assert (said.actor_id, said.author) == (own_identity(TEAM, PERSON), PERSON)
    assert await web.mailbox.is_subscribed(THREAD)


async def test_what_is_said_elsewhere_is_not_kept(web: Web, clock: HandClock) -> None:
    """Nor is what is changed, deleted or stopped there; and an opened thread has nothing in it yet."""
    for body in (message(), message("stop"), changed(), deleted(), assistant_started()):
        assert await send(web, clock, body) in ("not_for_bosun", "accepted")
    assert await web.is_untouched()


async def test_what_is_said_in_a_thread_that_bosun_listens_to_is_not_said_to_it(web: Web, clock: HandClock) -> None:
    """Whether it is answered is decided later; the mark of an interrupt is for Bosun."""
    await send(web, clock, app_mention())
    assert await send(web, clock, message("And now?", ts=LATER, thread_ts=TS, user=OTHER)) == "accepted"
    assert await send(web, clock, message("!! wait", ts=SECOND, thread_ts=TS)) == "accepted"
    assert [(said.addressed, said.interrupt) for said in await waiting(web)] == [
        (True, False),
        (False, False),
        (True, True),
    ]


async def test_a_direct_message_is_said_to_bosun(web: Web, clock: HandClock) -> None:
    """Also without a mention."""
    assert await send(web, clock, direct("Hello")) == "accepted"
    (said,) = await waiting(web, f"slack:{DIRECT}:{TS}")
    assert said.addressed


async def test_stop_ends_what_there_is_once_and_bosun_listens_no_more(web: Web, clock: HandClock) -> None:
    """The word may come again, late: it does not stop what was begun after it. Nor does a late mention subscribe."""
    await send(web, clock, app_mention())
    stop = message("Stop.", ts=LATER, thread_ts=TS, user=OTHER)
    assert await send(web, clock, stop) == "accepted"
    assert (await web.mailbox.state(THREAD)).stopping
    assert [said.text for said in await web.mailbox.stopped(THREAD)] == ["hello", "Stop."]
    assert await send(web, clock, app_mention()) == "duplicate"
    assert not await web.mailbox.is_subscribed(THREAD)
    taken: Any = await web.mailbox.take(THREAD)
    await web.log.commit_stop(THREAD, taken.messages, "Stopped.")
    await web.mailbox.consume(taken.lease, [said.id for said in taken.messages])
    await web.mailbox.release(taken.lease)
    assert await send(web, clock, app_mention(ts=SECOND, thread_ts=TS)) == "accepted"
    assert await send(web, clock, stop) == "duplicate"
    assert [said.place for said in await waiting(web)] == [SECOND]
    assert await web.mailbox.is_subscribed(THREAD)


async def test_stop_by_a_mention_is_heeded_where_bosun_was_and_is_a_message_elsewhere(
    web: Web, clock: HandClock
) -> None:
    """Nothing can be stopped where nothing was begun."""
    await send(web, clock, app_mention(f"<@{BOT}> stop"))
    assert [said.text for said in await waiting(web)] == ["stop"]
    await send(web, clock, app_mention(f"stop <@{BOT}>", ts=LATER, thread_ts=TS))
    assert (await web.mailbox.state(THREAD)).stopping


async def test_a_stop_on_the_web_ends_the_listening_too(web: Web, clock: HandClock, engine: AsyncEngine) -> None:
    """It is the same stop."""
    await link(engine, clock)
    await send(web, clock, app_mention())
    assert (await web.post(f"/api/conversations/{THREAD}/stop")).json()["status"] == "stopping"
    assert not await web.mailbox.is_subscribed(THREAD)


async def test_a_message_that_waits_is_changed_where_it_waits(web: Web, clock: HandClock) -> None:
    """The log has nothing of it yet; a late change does not undo a newer one."""
    await send(web, clock, app_mention())
    await send(web, clock, changed(f"<@{BOT}> good night"))
    older = changed(f"<@{BOT}> good day", edited={"user": PERSON, "ts": SECOND})
    await send(web, clock, older)
    assert [(said.text, said.revision) for said in await waiting(web)] == [("good night", revision_of(LATER))]
    assert await rows(web) == []


async def test_a_message_that_waits_is_withdrawn_when_it_is_deleted(web: Web, clock: HandClock) -> None:
    """No turn is made for it, and Slack's retry of it does not bring it back."""
    await send(web, clock, app_mention())
    await send(web, clock, deleted())
    assert await send(web, clock, app_mention()) == "duplicate"
    assert await waiting(web) == []
    assert await web.mailbox.with_work() == ()
    assert await rows(web) == []


@pytest.mark.parametrize("ended", [False, True])
async def test_a_message_that_was_taken_up_is_changed_in_the_log(
    web: Web, clock: HandClock, engine: AsyncEngine, ended: bool
) -> None:
    """While its turn runs and afterwards: people see the new text, and the model reads it the next time."""
    await link(engine, clock)
    await send(web, clock, app_mention())
    taken = await begin_turn(web)
    if ended:
        await finish(web, taken)
    for _ in range(2):  # Slack sends it again
        await send(web, clock, changed(f"<@{BOT}> good night"))
    seen = (await web.get(f"/api/conversations/{THREAD}")).json()["messages"][0]
    assert (seen["text"], seen["edited"], seen["deleted"]) == ("good night", True, False)
    assert (await rows(web)).count("message_updated") == 1
    assert next(each.text for each in await reader(web).history(THREAD)) == "good night"
    assert not ended or (await web.mailbox.state(THREAD)).status == "idle", "a change asks for no turn"


@pytest.mark.parametrize("ended", [False, True])
async def test_a_message_that_was_taken_up_and_is_deleted_is_read_by_nobody(
    web: Web, clock: HandClock, engine: AsyncEngine, ended: bool
) -> None:
    """Neither in the conversation nor among its rows, nor by the model, nor in a fork; a change does not revive it."""
    await link(engine, clock)
    await send(web, clock, app_mention(f"<@{BOT}> my secret"))
    taken = await begin_turn(web)
    if ended:
        await finish(web, taken)
    await send(web, clock, deleted())
    await send(web, clock, changed(f"<@{BOT}> my secret again"))
    if not ended:
        await finish(web, taken)
    conversation = await web.get(f"/api/conversations/{THREAD}")
    first, answer = conversation.json()["messages"]
    assert (first["text"], first["edited"], first["deleted"]) == ("(deleted)", False, True)
    events = await web.get(f"/api/conversations/{THREAD}/events?limit=3")
    fork = await web.post(f"/api/conversations/{THREAD}/forks", {"idempotencyKey": "f", "messageId": answer["id"]})
    copied = await web.get(f"/api/conversations/{fork.json()['conversationId']}")
    assert copied.json()["messages"][0]["text"] == "(deleted)"
    copied_rows = await web.get(f"/api/conversations/{fork.json()['conversationId']}/events")
    for shown in (conversation, events, copied, copied_rows):
        assert "my secret" not in shown.text
    assert [each.text for each in await reader(web).history(THREAD)] == ["(deleted)", "An answer."]


async def test_whoever_wrote_in_a_thread_sees_it_and_nobody_else(
    web: Web, clock: HandClock, engine: AsyncEngine
) -> None:
    """Who began it, who wrote in it; a person who only may read sees nothing of it."""
    await link(engine, clock)
    await link(engine, clock, OTHER, "eve")
    await send(web, clock, app_mention())
    await begin_turn(web)
    assert (await web.get(f"/api/conversations/{THREAD}", actor="eve")).status_code == 404
    assert await listed(web, "eve") == []
    await send(web, clock, message("Me too", ts=LATER, thread_ts=TS, user=OTHER))
    await begin_turn(web)
    for actor in ("morgan", "eve"):
        assert (await web.get(f"/api/conversations/{THREAD}", actor=actor)).status_code == 200
        assert await listed(web, actor) == [THREAD]
    for path in ("", "/events", "/pending"):
        assert (await web.get(f"/api/conversations/{THREAD}{path}", actor="reader")).status_code == 404
    assert await listed(web, "reader") == []


async def test_a_person_is_one_after_the_link_and_sees_what_was_before(
    web: Web, clock: HandClock, engine: AsyncEngine
) -> None:
    """What was begun and written under the person's own identity becomes the linked one's; twice is once."""
    await send(web, clock, app_mention())
    await send(web, clock, app_mention(ts=ROOT, user=OTHER))
    await send(web, clock, message("Me too", ts=LATER, thread_ts=ROOT))
    other = f"slack:{CHANNEL}:{ROOT}"
    for said in await waiting(web, other):
        await web.log.accept_message(other, said)
    assert await listed(web, "morgan") == []
    for _ in range(2):
        await link(engine, clock)
    assert sorted(await listed(web, "morgan")) == sorted([THREAD, other])
    assert await listed(web, "eve") == []
    await send(web, clock, message("Hello again", ts=LATER, thread_ts=TS))
    assert [said.actor_id for said in await waiting(web)] == [own_identity(TEAM, PERSON), "morgan"]


@pytest.mark.parametrize(
    ("team", "user", "identity", "why"),
    [
        (TEAM, PERSON, "nobody", "there is no person 'nobody'.*token create --actor nobody"),
        ("acme", PERSON, "morgan", "TEAM is 'acme'.*as Slack writes it"),
        (TEAM, "@morgan", "morgan", "USER is '@morgan'"),
    ],
)
async def test_a_link_that_cannot_be_is_refused_and_nothing_is_changed(
    web: Web, engine: AsyncEngine, clock: HandClock, team: str, user: str, identity: str, why: str
) -> None:
    """With what to do instead."""
    with pytest.raises(LinkRefused, match=why):
        await link_slack_user(engine, team, user, identity)
    await send(web, clock, app_mention())
    assert (await waiting(web))[0].actor_id == own_identity(TEAM, PERSON)


class SlowToTell:
    """Does not know a name at first."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def name(self, user_id: str) -> str | None:
        """Know it when it is asked again."""
        self.asked.append(user_id)
        return f"Name of {user_id}\0" if self.asked.count(user_id) > 1 else None


async def test_a_name_that_slack_did_not_say_is_asked_for_again_until_it_does(
    engine: AsyncEngine, clock: HandClock
) -> None:
    """Until then the person is called by the id; a linked person has the name that Bosun knows."""
    names = SlowToTell()
    people = SlackPeople(engine, names=names, account_id="standard", clock=clock)
    assert (await people.actor(TEAM, PERSON)).display_name == PERSON
    assert await people.names(TEAM, [OTHER]) == {}
    assert (await people.actor(TEAM, PERSON)).display_name == f"Name of {PERSON}"
    asked = len(names.asked)
    assert (await people.actor(TEAM, PERSON)).display_name == f"Name of {PERSON}"
    assert await people.names(TEAM, [PERSON]) == {PERSON: f"Name of {PERSON}"}
    assert len(names.asked) == asked
    await link(engine, clock)
    assert await people.actor(TEAM, PERSON) == Actor("morgan", "Morgan", "standard")
    assert (await people.actor("T9", PERSON)).id == own_identity("T9", PERSON), "another workspace, another person"


@pytest.mark.parametrize("text", ["stop", "Stop.", "STOP!", "@Bosun stop", "stop @Bosun", "*stop*", " bosun, stop "])
async def test_the_word_alone_is_a_stop(text: str) -> None:
    """In any case, with or without the mention."""
    assert is_stop(text)


@pytest.mark.parametrize(
    "text", ["", "stop?", "stop it", "please stop", "non-stop", "stop stop", "@Priya stop", "stopp"]
)
async def test_other_words_are_no_stop(text: str) -> None:
    """They are said like all others."""
    assert not is_stop(text)


async def test_a_revision_grows_with_the_ts_of_the_change() -> None:
    """Also where Slack writes fewer digits."""
    stamps = ["9.9", "1700000100.0002", "1700000100.000300", "1700000100.1", "1700000101.000000"]
    assert sorted(stamps, key=revision_of) == stamps


def reader(web: Web) -> ConversationReader:
    """Return a reader of the log."""
    return ConversationReader(web.engine)


async def rows(web: Web) -> list[str]:
    """Return the types of the thread's rows."""
    return [event.payload.type for event in await reader(web).events(THREAD)]


async def listed(web: Web, actor: str) -> list[str]:
    """Return the conversations that an actor is shown."""
    found = (await web.get("/api/conversations", actor=actor)).json()["conversations"]
    return [conversation["id"] for conversation in found]


async def link(engine: AsyncEngine, clock: HandClock, user: str = PERSON, identity: str = "morgan") -> None:
    """Make a person known, if need be, and link."""
    actor = Actor(identity, identity.title(), "standard")
    await create_token(engine, actor=actor, scopes=SCOPES, ids=SystemIds(), clock=clock)
    await link_slack_user(engine, TEAM, user, identity)
