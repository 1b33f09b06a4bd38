"""A person says who they are on Slack: by a code of their own page, in a direct message of theirs, and no other way."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from conftest import HandClock
from hypothesis import given
from hypothesis import strategies as st
from oidc_provider import OidcProvider, oidc_provider
from redis.asyncio import Redis
from slack_bodies import BOT, CHANNEL, DIRECT, LATER, OTHER, PERSON, TEAM, TS, app_mention, direct, message
from slack_server import Fault, SlackServer, slack_server
from slack_turn_bench import EagerTimer
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncEngine
from test_login import sign_in
from test_slack_intake import send
from web_bench import Web, open_web

from bosun.accounts import ensure_account
from bosun.identity import SCOPES, Actor, create_token
from bosun.link_codes import CODE_AGE, KEPT, CodeRefused, LinkCodes, code_in
from bosun.login.login import identity_of
from bosun.machine import SystemIds
from bosun.slack.channel import SlackThread
from bosun.slack.client import SlackClient
from bosun.slack.linking import LINKED, SPOILED
from bosun.slack.people import link_slack_user, own_identity
from bosun.slack.words import SlackWords
from bosun.stores.tables import identities, link_codes, slack_users

pytestmark = pytest.mark.asyncio
SECOND = "1700000150.000100"
CODE = re.compile(r"link ((?:[A-Z2-7]{4}-){4}[A-Z2-7]{4})<")


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with oidc_provider() as served:
        yield served


@pytest_asyncio.fixture
async def web(provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Web]:
    """A browser in which Morgan has signed in."""
    async with open_web(engine, redis, clock, login=provider.options()) as web:
        assert (await sign_in(web, provider)).status_code == 303
        yield web


@pytest.fixture
def morgan(provider: OidcProvider) -> str:
    """Morgan's identity on the web."""
    return identity_of(provider.url, "4711")


async def make_code(web: Web) -> str:
    """Ask the page for a code, as its button does."""
    page = await web.client.get("/link")
    csrf = re.search('name="csrf" value="([^"]+)"', page.text)
    assert csrf is not None
    made = await web.client.post("/link", data={"csrf": csrf[1]})
    assert (made.status_code, made.headers["cache-control"]) == (200, "no-store")
    code = CODE.search(made.text)
    assert code is not None, made.text
    return code[1]


async def who_is(web: Web, user: str = PERSON) -> str | None:
    """Return whose identity a person on Slack has, or None for one whom nobody knows."""
    query = select(slack_users.c.identity_id).where(slack_users.c.team_id == TEAM, slack_users.c.user_id == user)
    async with web.engine.connect() as connection:
        return (await connection.execute(query)).scalar_one_or_none()


def last(web: Web) -> str:
    """Return what Bosun said last on Slack."""
    return web.words.said[-1][1]


async def test_who_sends_a_code_of_theirs_is_one_person_and_sees_what_was_before(
    web: Web, clock: HandClock, morgan: str
) -> None:
    """On the page, too. The code is in no conversation, and nobody answers it but with fixed words."""
    await send(web, clock, app_mention())
    code = await make_code(web)
    assert await send(web, clock, direct(f"link {code}", ts=LATER)) == "accepted"
    assert await who_is(web) == morgan
    assert web.words.said == [(f"slack:{DIRECT}:{LATER}", LINKED.format(name="Morgan"))]
    assert (await web.mailbox.state(f"slack:{DIRECT}:{LATER}")).pending == ()
    assert (await web.client.get(f"/conversations/slack:{CHANNEL}:{TS}")).status_code == 200
    assert f"{PERSON} of {TEAM}" in (await web.client.get("/link")).text
    await send(web, clock, direct("Hello", ts=SECOND))
    (said,) = (await web.mailbox.state(f"slack:{DIRECT}:{SECOND}")).pending
    assert (said.actor_id, said.author) == (morgan, "Morgan")


@pytest.mark.parametrize(
    "wording", ["link {}", "Link {}", "  link   {} ", "*link {}*", "`link {}`", "link `{}`", f"<@{BOT}> link {{}}"]
)
async def test_a_code_may_be_sent_as_people_copy_it(web: Web, clock: HandClock, morgan: str, wording: str) -> None:
    for code in (await make_code(web)).lower(), (await make_code(web)).replace("-", ""):
        async with web.engine.begin() as connection:
            await connection.execute(link_codes.update().values(used_for=None))
        await send(web, clock, direct(wording.format(code)))
    assert await who_is(web) == morgan


async def test_slacks_retry_of_the_message_is_told_the_same(web: Web, clock: HandClock, morgan: str) -> None:
    """Bosun may have died between the link and its words."""
    body = direct(f"link {await make_code(web)}")
    for _ in range(2):
        assert await send(web, clock, body) == "accepted"
    assert await who_is(web) == morgan
    assert [words for _, words in web.words.said] == [LINKED.format(name="Morgan")] * 2


async def test_a_code_works_once_also_for_two_at_the_same_time(web: Web, clock: HandClock, morgan: str) -> None:
    code = await make_code(web)
    events = [direct(f"link {code}", ts=TS), direct(f"link {code}", ts=LATER, user=OTHER)]
    await asyncio.gather(*(send(web, clock, event) for event in events))
    assert sorted(who == morgan for who in [await who_is(web), await who_is(web, OTHER)]) == [False, True]
    assert sorted("was used already" in words for _, words in web.words.said) == [False, True]
    await send(web, clock, direct(f"link {code}", ts=SECOND, user="U0THIRD"))
    assert await who_is(web, "U0THIRD") == own_identity(TEAM, "U0THIRD")
    assert "was used already" in last(web)


async def test_who_comes_second_waits_for_the_first_and_is_refused(web: Web, clock: HandClock) -> None:
    """Also where both have read the code before either has used it."""
    codes = LinkCodes(web.engine, clock=clock, ids=SystemIds())
    code = await make_code(web)

    async def second() -> None:
        async with web.engine.begin() as connection:
            await codes.take(connection, code, "second")

    async with web.engine.connect() as watching, web.engine.connect() as first:
        await codes.take(first, code, "first")
        waiting = asyncio.create_task(second())
        async with asyncio.timeout(30):
            while not (await watching.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted"))).all():
                pass
        await first.commit()
        with pytest.raises(CodeRefused, match="used already"):
            await waiting


async def test_a_code_that_does_not_work_changes_nothing_and_says_why(web: Web, clock: HandClock, morgan: str) -> None:
    """A guessed one, one that a newer one replaced, and one that is ten minutes old."""
    replaced, newest = await make_code(web), await make_code(web)
    clock.advance(CODE_AGE.total_seconds())
    for at, (code, why) in enumerate(
        [("AAAA-BBBB-CCCC-DDDD-EEEE", "no such code"), (replaced, "no such code"), (newest, "too old")]
    ):
        await send(web, clock, direct(f"link {code}", ts=f"170000020{at}.000100"))
        assert why in last(web) and "Nothing has changed" in last(web)
        assert await who_is(web) == own_identity(TEAM, PERSON)
    clock.advance(-1)
    await send(web, clock, direct(f"link {newest}", ts=SECOND))
    assert await who_is(web) == morgan


@pytest.mark.parametrize("known", [False, True])
async def test_a_code_that_others_can_read_is_worth_nothing_any_more(web: Web, clock: HandClock, known: bool) -> None:
    """Whether Bosun was called or not, whoever sends it then: it would make that person Morgan."""
    code = await make_code(web)
    if known:
        text = f"<@{BOT}> link {code}"
        assert await send(web, clock, app_mention(text)) == "accepted"
        assert await send(web, clock, message(text)) == "duplicate"
        assert [words for _, words in web.words.said] == [SPOILED]
    else:
        assert await send(web, clock, message(f"link {code}")) == "accepted"
        assert web.words.said == []
    await send(web, clock, direct(f"link {code}", ts=LATER, user=OTHER))
    assert "was used already" in last(web)
    assert await who_is(web, OTHER) == own_identity(TEAM, OTHER)
    assert await who_is(web) is None
    assert (await web.mailbox.with_work()) == ()


async def test_what_is_no_code_is_a_message_where_others_read(web: Web, clock: HandClock) -> None:
    assert await send(web, clock, app_mention(f"<@{BOT}> link internationalization")) == "accepted"
    (said,) = (await web.mailbox.state(f"slack:{CHANNEL}:{TS}")).pending
    assert said.text == "link internationalization"
    assert await send(web, clock, message("link internationalization", ts=LATER)) == "not_for_bosun"


async def test_who_is_somebody_already_stays_so(web: Web, clock: HandClock, morgan: str) -> None:
    """A second code of somebody else's does not move a person, and is not used up by the attempt."""
    await create_token(web.engine, actor=Actor("eve", "Eve", "standard"), scopes=SCOPES, ids=SystemIds(), clock=clock)
    await link_slack_user(web.engine, TEAM, PERSON, "eve")
    code = await make_code(web)
    await send(web, clock, direct(f"link {code}"))
    assert await who_is(web) == "eve"
    assert "somebody else on the web already" in last(web)
    await send(web, clock, direct(f"link {code}", ts=LATER, user=OTHER))
    assert await who_is(web, OTHER) == morgan
    await send(web, clock, direct(f"link {await make_code(web)}", ts=SECOND, user=OTHER))
    assert await who_is(web, OTHER) == morgan
    assert last(web) == LINKED.format(name="Morgan"), "who is linked with the same person is told so"


async def test_people_of_two_accounts_are_not_made_one(web: Web, clock: HandClock, morgan: str) -> None:
    async with web.engine.begin() as connection:
        await ensure_account(connection, "other", clock.now())
        await connection.execute(update(identities).where(identities.c.id == morgan).values(account_id="other"))
    await send(web, clock, direct(f"link {await make_code(web)}"))
    assert await who_is(web) == own_identity(TEAM, PERSON)
    assert "another account" in last(web)


async def test_a_code_needs_a_form_of_the_persons_own_page(web: Web) -> None:
    """Else another site, or a token that reads, could make one."""
    assert (await web.client.post("/link", data={"csrf": "guessed"})).status_code == 403
    elsewhere = {"origin": "https://elsewhere.example"}
    page = await web.client.get("/link")
    csrf = re.search('name="csrf" value="([^"]+)"', page.text)
    assert csrf is not None
    assert (await web.client.post("/link", data={"csrf": csrf[1]}, headers=elsewhere)).status_code == 403
    web.client.cookies.clear()
    for asked in (await web.get("/link"), await web.client.get("/link"), await web.client.post("/link")):
        assert (asked.status_code, asked.headers["location"].startswith("/login?next=")) == (303, True)
    async with web.engine.connect() as connection:
        assert (await connection.execute(select(link_codes))).all() == []


async def test_codes_are_stored_as_hashes_and_cleared_away(engine: AsyncEngine, clock: HandClock) -> None:
    """Nobody who reads the table can link; what was used a day ago is gone when the next one is made."""
    codes = LinkCodes(engine, clock=clock, ids=SystemIds())
    for name in ("morgan", "eve"):
        actor = Actor(name, name.title(), "standard")
        await create_token(engine, actor=actor, scopes=SCOPES, ids=SystemIds(), clock=clock)
    made = await codes.make("morgan")
    async with engine.begin() as connection:
        (row,) = (await connection.execute(select(link_codes))).all()
        assert made not in tuple(row) and made.replace("-", "") not in tuple(row)
        assert (await codes.take(connection, made, "m1")).id == "morgan"
    clock.advance(KEPT.total_seconds() - 1)
    await codes.make("eve")
    async with engine.connect() as connection:
        kept = select(link_codes.c.identity_id).order_by(link_codes.c.identity_id)
        assert (await connection.execute(kept)).scalars().all() == ["eve", "morgan"]
    clock.advance(1)
    await codes.make("eve")
    async with engine.connect() as connection:
        assert (await connection.execute(kept)).scalars().all() == ["eve"]


async def test_an_app_without_a_login_takes_it_as_a_message(
    engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    """There are no codes there, and no page."""
    async with open_web(engine, redis, clock) as web:
        await send(web, clock, direct("link AAAA-BBBB-CCCC-DDDD-EEEE"))
        (said,) = (await web.mailbox.state(f"slack:{DIRECT}:{TS}")).pending
        assert said.text == "link AAAA-BBBB-CCCC-DDDD-EEEE"
        assert (await web.client.get("/link")).status_code == 404


@pytest.mark.parametrize("fault", [None, Fault(moment="after"), Fault("channel_not_found"), Fault("ratelimited", 429)])
async def test_words_are_said_once_in_the_thread_and_their_loss_is_nobodys_problem(fault: Fault | None) -> None:
    slack: SlackServer
    with slack_server() as slack:
        client = SlackClient(slack.options(), timer=EagerTimer())
        slack.fail("chat.postMessage", fault)
        await SlackWords(client).say(SlackThread(DIRECT, TS), "Done.")
        client.close()
        assert slack.calls == [("chat.postMessage", {"channel": DIRECT, "thread_ts": TS, "text": "Done."})]


@pytest.mark.parametrize(
    "text",
    ["link", "link me", "Please link AAAA-BBBB-CCCC-DDDD-EEEE", "link AAAA-BBBB-CCCC-DDDD-EEEE now", "linkage", "",
     "unlink AAAA-BBBB-CCCC-DDDD-EEEE", "link https://a.example/abcdefgh", "link\u00a0"],
)  # fmt: skip
async def test_other_words_are_no_link(text: str) -> None:
    assert code_in(text) is None


@given(st.text("AB27-", min_size=15, max_size=40), st.sampled_from(["", "*", "`", "_", " "]))
def test_a_code_is_read_out_of_whatever_is_around_it(code: str, around: str) -> None:
    assert code_in(f"{around}link {code}{around}") == code
