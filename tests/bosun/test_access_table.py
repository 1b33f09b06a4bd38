"""Who may do what: every person with every route, against a table that was written by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio
from conftest import CountedIds, HandClock
from oidc_provider import OidcProvider, oidc_provider
from redis.asyncio import Redis
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine
from test_login import SESSION
from web_bench import Web, open_web

from bosun.http.sessions import CSRF_FIELD
from bosun.identity import Actor, create_token, ensure_identity, revoke_tokens
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.login.sessions import LONGEST_SILENCE, Sessions
from bosun.slack.people import link_slack_user, own_identity
from bosun.stores.tables import login_sessions

pytestmark = pytest.mark.asyncio

PRIVATE, THREAD = "web:private", "slack:C1:1.1"
"""A conversation of the owner's on the web, and a thread on Slack that the owner began and the participant wrote in.

Who is linked wrote in the thread on Slack, before the link.
"""

BOTH = ("conversations:read", "conversations:write")
PEOPLE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "owner": ("owner", "acme", BOTH),
    "owner who may only read": ("owner", "acme", BOTH[:1]),
    "owner who may only write": ("owner", "acme", BOTH[1:]),
    "colleague": ("colleague", "acme", BOTH),
    "participant": ("participant", "acme", BOTH),
    "linked": ("linked", "acme", BOTH),
    "stranger": ("stranger", "other", BOTH),
}
API = ("list", "read", "events", "pending", "say", "fork", "stop", "begin")

# One letter a route, in the order of API: y may, n is refused (401 or 403), - is not there (404).
TABLE = {
    #                              list read events pending say fork stop begin
    ("owner", PRIVATE):                     "y y y y y y y y",
    ("owner", THREAD):                      "y y y y y y y y",
    ("owner who may only read", PRIVATE):   "y y y y n n n n",
    ("owner who may only read", THREAD):    "y y y y n n n n",
    ("owner who may only write", PRIVATE):  "n n n n y y y y",
    ("owner who may only write", THREAD):   "n n n n y y y y",
    ("colleague", PRIVATE):                 "y - - - - - - y",
    ("colleague", THREAD):                  "y - - - - - - y",
    ("participant", PRIVATE):               "y - - - - - - y",
    ("participant", THREAD):                "y y y y y y y y",
    ("linked", PRIVATE):                    "y - - - - - - y",
    ("linked", THREAD):                     "y y y y y y y y",
    ("stranger", PRIVATE):                  "y - - - - - - y",
    ("stranger", THREAD):                   "y - - - - - - y",
    ("nobody", PRIVATE):                    "n n n n n n n n",
    ("nobody", THREAD):                     "n n n n n n n n",
    ("a guess", PRIVATE):                   "n n n n n n n n",
    ("a guess", THREAD):                    "n n n n n n n n",
    ("owner whose tokens were revoked", PRIVATE): "n n n n n n n n",
    ("owner whose tokens were revoked", THREAD):  "n n n n n n n n",
}  # fmt: skip

# The pages: list, conversation, message, fork, stop, beginning, who one is on Slack, a code to say so.
# y may, - is not there, l is sent to the login.
PAGES = {
    ("owner", PRIVATE):       "y y y y y y y y",
    ("owner", THREAD):        "y y y y y y y y",
    ("colleague", PRIVATE):   "y - - - - y y y",
    ("colleague", THREAD):    "y - - - - y y y",
    ("participant", PRIVATE): "y - - - - y y y",
    ("participant", THREAD):  "y y y y y y y y",
    ("linked", PRIVATE):      "y - - - - y y y",
    ("linked", THREAD):       "y y y y y y y y",
    ("stranger", PRIVATE):    "y - - - - y y y",
    ("stranger", THREAD):     "y - - - - y y y",
    ("nobody", PRIVATE):      "l l l l l l l l",
    ("a guess", PRIVATE):     "l l l l l l l l",
    ("owner after a long silence", PRIVATE): "l l l l l l l l",
    ("owner with a token", PRIVATE):         "l l l l l l l l",
}  # fmt: skip

# What of a list each sees.
LISTED = {
    "owner": {PRIVATE, THREAD},
    "owner who may only read": {PRIVATE, THREAD},
    "colleague": set(),
    "participant": {THREAD},
    "linked": {THREAD},
    "stranger": set(),
}


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with oidc_provider() as served:
        yield served


class House:
    """Bosun, both conversations, and a token and a session for each person."""

    def __init__(self, web: Web, sessions: Sessions, clock: HandClock) -> None:
        self.web = web
        self.sessions = sessions
        self.clock = clock
        self.bearer = {"nobody": "", "a guess": "Bearer bosun_guessed"}
        self.cookie = {"nobody": "", "a guess": f"{SESSION}=guessed", "owner with a token": ""}
        self.replies: dict[str, str] = {}

    async def settle(self) -> None:
        """Bring everybody in."""
        ids = CountedIds()
        for who, (name, account, scopes) in PEOPLE.items():
            actor = Actor(name, name.title(), account)
            token = await create_token(self.web.engine, actor=actor, scopes=scopes, ids=ids, clock=self.clock)
            self.bearer[who] = f"Bearer {token}"
            self.cookie[who] = f"{SESSION}={await self.sessions.begin(name)}"
        self.cookie["owner with a token"] = self.bearer["owner"]
        for conversation_id, location in ((PRIVATE, "web"), (THREAD, "slack")):
            record = ConversationRecord(id=conversation_id, account_id="acme", actor_id="owner", location=location)
            await self.web.log.open_conversation(record)
            await self._turn(conversation_id, "owner")
        await self._turn(THREAD, "participant")
        on_slack = Actor(own_identity("T1", "U1"), "U1", "acme")
        async with self.web.engine.begin() as connection:
            await ensure_identity(connection, on_slack, self.clock.now())
        await self._turn(THREAD, on_slack.id)
        await link_slack_user(self.web.engine, "T1", "U1", "linked")

    async def _turn(self, conversation_id: str, who: str) -> None:
        said = InboundMessage(
            id=f"message:{conversation_id}:{who}", actor_id=who, author=who.title(), text="Hello",
            received_at=self.clock.now(),
        )  # fmt: skip
        await self.web.log.accept_message(conversation_id, said)
        turn = await self.web.log.start_turn(conversation_id, [said])
        await self.web.log.commit_reply(turn, "Hello to you.")
        self.replies[conversation_id] = CountedIds().derive(turn.id, "message", 1)

    async def api(self, who: str, conversation_id: str, what: str) -> httpx.Response:
        """Ask one route of the API."""
        headers = {"authorization": self.bearer[who]} if self.bearer[who] else {}
        path = f"/api/conversations/{conversation_id}"
        said = {"idempotencyKey": f"{who} {what}", "message": "x"}
        fork = {"idempotencyKey": f"{who} {what}", "messageId": self.replies[conversation_id]}
        calls = {
            "list": ("GET", "/api/conversations", None),
            "read": ("GET", path, None),
            "events": ("GET", f"{path}/events", None),
            "pending": ("GET", f"{path}/pending", None),
            "say": ("POST", f"{path}/messages", said),
            "fork": ("POST", f"{path}/forks", fork),
            "stop": ("POST", f"{path}/stop", {}),
            "begin": ("POST", "/api/conversations", said),
        }
        method, url, body = calls[what]
        return await self.web.client.request(method, url, json=body, headers=headers)

    async def page(self, who: str, conversation_id: str, number: int) -> httpx.Response:
        """Ask one page, or send one form."""
        value = self.cookie[who]
        headers = {"authorization": value} if value.startswith("Bearer") else {"cookie": value}
        path = f"/conversations/{conversation_id}"
        token = value.partition("=")[2]
        session = await self.sessions.find(token) if token else None
        form = {CSRF_FIELD: session.csrf if session else "x", "key": f"{who} {number}", "message": "x"}
        calls = [
            ("GET", "/", None),
            ("GET", path, None),
            ("POST", f"{path}/messages", form),
            ("POST", f"{path}/forks", {**form, "message": self.replies[conversation_id]}),
            ("POST", f"{path}/stop", form),
            ("POST", "/conversations", form),
            ("GET", "/link", None),
            ("POST", "/link", form),
        ]
        method, url, data = calls[number]
        return await self.web.client.request(method, url, data=data, headers=headers)


@pytest_asyncio.fixture
async def house(provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[House]:
    async with open_web(engine, redis, clock, tokens={}, login=provider.options()) as web:
        house = House(web, Sessions(engine, clock=clock, ids=CountedIds()), clock)
        await house.settle()
        yield house


def letter(response: httpx.Response) -> str:
    """Read an answer as the table writes it."""
    if response.status_code == 303 and response.headers["location"].startswith("/login"):
        return "l"
    return {401: "n", 403: "n", 404: "-"}.get(response.status_code, "y" if response.status_code < 400 else "?")


@pytest.mark.parametrize(("who", "conversation_id"), TABLE)
async def test_the_api_answers_as_the_table_says(house: House, who: str, conversation_id: str) -> None:
    if who == "owner whose tokens were revoked":
        house.bearer[who] = house.bearer["owner"]
        assert await revoke_tokens(house.web.engine, "owner") == 3
    seen = [letter(await house.api(who, conversation_id, what)) for what in API]
    assert dict(zip(API, seen, strict=True)) == dict(zip(API, TABLE[who, conversation_id].split(), strict=True))


@pytest.mark.parametrize(("who", "conversation_id"), PAGES)
async def test_the_pages_answer_as_the_table_says(house: House, who: str, conversation_id: str) -> None:
    if who == "owner after a long silence":
        house.cookie[who] = house.cookie["owner"]
        house.clock.advance(LONGEST_SILENCE.total_seconds())
    seen = [letter(await house.page(who, conversation_id, number)) for number in range(8)]
    assert " ".join(seen) == PAGES[who, conversation_id]


@pytest.mark.parametrize("who", LISTED)
async def test_a_list_holds_what_may_be_seen(house: House, who: str) -> None:
    listed = (await house.api(who, PRIVATE, "list")).json()["conversations"]
    assert {each["id"] for each in listed} == LISTED[who]


async def test_what_may_not_be_seen_is_not_told_from_what_is_not_there(house: House) -> None:
    hidden = await house.api("stranger", PRIVATE, "read")
    house.replies["web:nowhere"] = "x"
    absent = await house.api("stranger", "web:nowhere", "read")
    assert (hidden.status_code, hidden.json()) == (absent.status_code, absent.json())


OPEN = {"/health", "/login", "/login/callback", "/api/webhooks/slack"}
"""What needs no actor: readiness, the way in by a browser, and what is signed."""


async def test_a_new_route_needs_a_line_in_the_tables(house: House) -> None:
    """Whoever adds one says here who may."""
    found = set()

    def walk(routes: object) -> None:
        for route in routes:  # type: ignore[attr-defined]
            inner = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
            if inner:
                walk(inner)
            else:
                found.add(route.path)

    walk(house.web.app.routes)
    one, pages = "/api/conversations/{conversation_id}", "/conversations/{conversation_id}"
    known = {"/api/conversations", one, f"{one}/events", f"{one}/pending", f"{one}/messages", f"{one}/forks",
             f"{one}/stop", "/", "/conversations", pages, f"{pages}/messages", f"{pages}/forks", f"{pages}/stop",
             "/logout", "/link"}  # fmt: skip
    assert {path for path in found if not path.startswith("/docs")} - {"/redoc"} == known | OPEN


async def test_a_session_is_found_by_its_own_id_alone(house: House) -> None:
    """What is stored of it is no key."""
    now = house.clock.now()
    row = {"session_sha256": "0" * 64, "identity_id": "owner", "csrf": "x", "created_at": now, "seen_at": now}
    async with house.web.engine.begin() as connection:
        await connection.execute(insert(login_sessions).values(**row))
    assert await house.sessions.find("0" * 64) is None
