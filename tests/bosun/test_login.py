"""Signing in with a browser, by a real OpenID provider on loopback; and every way in which one may not be believed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import pytest
from conftest import START, HandClock
from hypothesis import given
from hypothesis import strategies as st
from oidc_provider import CLIENT, OTHER, SHARED, OidcProvider, oidc_provider
from redis.asyncio import Redis
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine
from web_bench import Web, open_web

from bosun.login.attempts import ATTEMPT_AGE, ATTEMPTS
from bosun.login.login import identity_of
from bosun.login.options import LoginOptions
from bosun.login.paths import HOME, own_path
from bosun.login.sessions import LONGEST_AGE, LONGEST_SILENCE
from bosun.stores.tables import identities, login_sessions

pytestmark = pytest.mark.asyncio
SESSION = "bosun_session"


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with oidc_provider() as served:
        yield served


@asynccontextmanager
async def browser(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock, **more: Any
) -> AsyncIterator[Web]:
    async with open_web(engine, redis, clock, login=provider.options(**more)) as web:
        yield web


async def sign_in(web: Web, provider: OidcProvider, page: str = "/") -> httpx.Response:
    """Go to a page as a browser does that has not signed in, agree, and return what the callback answers."""
    sent = await web.client.get(page)
    assert sent.status_code == 303
    begun = await web.client.get(sent.headers["location"])
    assert begun.status_code == 303, begun.text
    return await web.client.get(provider.authorize(begun.headers["location"]))


async def counts(engine: AsyncEngine) -> tuple[int, int]:
    """Return how many sessions there are, and how many people who signed in."""
    async with engine.connect() as connection:
        sessions = (await connection.execute(select(func.count()).select_from(login_sessions))).scalar_one()
        people = select(func.count()).select_from(identities).where(identities.c.id.startswith("oidc:"))
        return sessions, (await connection.execute(people)).scalar_one()


async def test_a_person_signs_in_and_sees_the_page_that_was_asked_for(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        done = await sign_in(web, provider, "/")
        assert (done.status_code, done.headers["location"]) == (303, "/")
        cookie = next(each for each in done.headers.get_list("set-cookie") if each.startswith(SESSION))
        assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Path=/" in cookie
        assert "Secure" not in cookie  # http on loopback
        page = await web.client.get("/")
        assert page.status_code == 200
        assert "Morgan" in page.text
        assert await counts(engine) == (1, 1)
        async with engine.connect() as connection:
            row = (await connection.execute(select(identities).where(identities.c.id.startswith("oidc:")))).one()
            stored = (await connection.execute(select(login_sessions))).one()
        assert (row.id, row.display_name, row.account_id) == (identity_of(provider.url, "4711"), "Morgan", "standard")
        assert web.client.cookies[SESSION] not in tuple(stored)  # only its hash is kept


async def test_the_same_subject_is_the_same_person_and_another_issuers_is_not(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        for name in ("Morgan", "Morgan M."):
            provider.person["name"] = name
            web.client.cookies.clear()
            assert (await sign_in(web, provider)).status_code == 303
        assert await counts(engine) == (2, 1)
        provider.person["sub"] = "4712"
        web.client.cookies.clear()
        await sign_in(web, provider)
        assert await counts(engine) == (3, 2)
    assert identity_of("https://a", "b") != identity_of("https://ab", "")


def wrong(**claims: Any) -> Callable[[OidcProvider], None]:
    return lambda provider: provider.claims.update(claims)


def told(**values: Any) -> Callable[[OidcProvider], None]:
    def tell(provider: OidcProvider) -> None:
        for name, value in values.items():
            setattr(provider, name, value)

    return tell


NOW = int(START.timestamp())
LIES: dict[str, Callable[[OidcProvider], None]] = {
    "another nonce": wrong(nonce="another"),
    "no nonce": wrong(nonce=None),
    "another audience": wrong(aud="somebody-else"),
    "another audience in a list": wrong(aud=["somebody-else"]),
    "another authorized party": wrong(aud=[CLIENT, "other"], azp="other"),
    "another issuer": wrong(iss="https://elsewhere.example"),
    "expired": wrong(exp=NOW - 61),
    "no end": wrong(exp=None),
    "from the future": wrong(iat=NOW + 3600),
    "no beginning": wrong(iat=None),
    "nobody": wrong(sub=None),
    "no text as subject": wrong(sub=4711),
    "another key": told(key=OTHER),
    "no signature": told(algorithm="none"),
    "signed with what the client knows": told(algorithm="HS256", key=SHARED),
    "no id token": told(token_body=b'{"access_token": "x", "token_type": "Bearer"}'),
    "no JSON": told(token_body=b"<html>"),
    "a list": told(token_body=b"[1]"),
    "an error of the server": told(token_status=500),
    "keys that are not there": told(keys_status=503),
    "a token that is none": told(token_body=b'{"access_token": "x", "token_type": "Bearer", "id_token": "a.b.c"}'),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_provider_that_lies_signs_nobody_in(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock, lie: str
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        LIES[lie](provider)
        done = await sign_in(web, provider)
        assert done.status_code == 400
        assert SESSION not in web.client.cookies
        assert await counts(engine) == (0, 0)
        assert (await web.client.get("/")).status_code == 303
        assert "could not be signed in" in done.text or "does not answer" in done.text


@pytest.mark.parametrize(
    "document", [{}, {"issuer": "https://elsewhere.example"}, {"issuer": None}], ids=["empty", "another", "none"]
)
async def test_a_discovery_document_that_does_not_fit_sends_nobody_anywhere(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock, document: dict[str, Any]
) -> None:
    provider.document = document
    async with browser(provider, engine, redis, clock) as web:
        assert (await web.client.get("/login")).status_code == 400
        assert await redis.hlen(ATTEMPTS) == 0


async def test_an_issuer_that_is_away_is_said_to_be(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock, issuer="http://127.0.0.1:9") as web:
        away = await web.client.get("/login")
        assert away.status_code == 400
        assert "does not answer" in away.text


async def test_a_callback_works_once_in_the_browser_that_began_and_for_ten_minutes(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        begun = await web.client.get("/login")
        back = provider.authorize(begun.headers["location"])
        own = web.client.cookies["bosun_login"]
        web.client.cookies.clear()
        assert (await web.client.get(back)).status_code == 400
        assert (await web.client.get(back, headers={"cookie": "bosun_login=guessed"})).status_code == 400
        right = {"cookie": f"bosun_login={own}"}
        assert (await web.client.get(back.replace("state=", "state=x"), headers=right)).status_code == 400
        assert (await web.client.get(back + "&iss=https://elsewhere.example", headers=right)).status_code == 400
        assert (await web.client.get(back, headers=right)).status_code == 303
        assert (await web.client.get(back, headers=right)).status_code == 400  # replayed
        assert await counts(engine) == (1, 1)
        web.client.cookies.clear()
        late = await web.client.get("/login")
        back = provider.authorize(late.headers["location"])
        clock.advance(ATTEMPT_AGE.total_seconds())
        assert (await web.client.get(back)).status_code == 400
        await web.client.get("/login")
        assert await redis.hlen(ATTEMPTS) == 1  # what has ended was cleared away


async def test_who_does_not_agree_is_not_signed_in(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        begun = await web.client.get("/login")
        back = provider.authorize(begun.headers["location"])
        state = re.search("state=([^&]+)", back)
        assert state is not None
        denied = await web.client.get(f"/login/callback?error=access_denied&state={state[1]}")
        assert denied.status_code == 400
        assert (await web.client.get(back)).status_code == 303  # the attempt is not used up by somebody's error


@pytest.mark.parametrize(
    ("claims", "allowed"),
    [
        ({"email": "m@acme.example", "email_verified": True}, True),
        ({"email": "m@ACME.example", "email_verified": True}, True),
        ({"email": "m@acme.example", "email_verified": False}, False),
        ({"email": "m@acme.example", "email_verified": "true"}, False),
        ({"email": "m@acme.example"}, False),
        ({"email": "m@acme.example@elsewhere.example", "email_verified": True}, False),
        ({"email": "m@not-acme.example", "email_verified": True}, False),
        ({}, False),
    ],
)
async def test_the_domain_of_a_verified_address_says_who_may(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock, claims: dict[str, Any], allowed: bool
) -> None:
    async with browser(provider, engine, redis, clock, email_domains=("acme.example",)) as web:
        provider.claims.update(claims)
        done = await sign_in(web, provider)
        assert done.status_code == (303 if allowed else 400)
        assert await counts(engine) == ((1, 1) if allowed else (0, 0))


async def test_a_login_ends_the_browsers_earlier_session_and_a_logout_ends_this_one(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        await sign_in(web, provider)
        first = web.client.cookies[SESSION]
        begun = await web.client.get("/login")
        await web.client.get(provider.authorize(begun.headers["location"]))
        second = web.client.cookies[SESSION]
        assert second != first
        assert await counts(engine) == (1, 1)
        page = await web.client.get("/")
        csrf = re.search('name="csrf" value="([^"]+)"', page.text)
        assert csrf is not None
        assert (await web.client.post("/logout", data={"csrf": "guessed"})).status_code == 403
        assert (await web.client.get("/")).status_code == 200
        assert (await web.client.post("/logout", data={"csrf": csrf[1]})).status_code == 200
        assert await counts(engine) == (0, 1)
        assert (await web.client.get("/", headers={"cookie": f"{SESSION}={second}"})).status_code == 303


async def test_a_session_ends_by_silence_and_by_age(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock) as web:
        await sign_in(web, provider)
        began = clock.now()
        almost = LONGEST_SILENCE.total_seconds() - 1
        while clock.now() - began < LONGEST_AGE - LONGEST_SILENCE:
            clock.advance(almost)
            assert (await web.client.get("/")).status_code == 200
        clock.advance((began + LONGEST_AGE - clock.now()).total_seconds())
        assert (await web.client.get("/")).status_code == 303
        clock.at = began
        web.client.cookies.clear()
        await sign_in(web, provider)
        clock.advance(LONGEST_SILENCE.total_seconds())
        assert (await web.client.get("/")).status_code == 303


async def test_over_https_the_cookie_is_bound_to_the_host(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    async with browser(provider, engine, redis, clock, public_url="https://bosun.example") as web:
        begun = await web.client.get("/login")
        assert "Secure" in begun.headers["set-cookie"]
        refused = await web.client.get("/", headers={"cookie": f"{SESSION}=x"})
        assert refused.status_code == 303


async def test_a_session_is_no_key_to_the_api(
    provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock
) -> None:
    """Which takes tokens alone: a form of another site's could otherwise write there."""
    async with browser(provider, engine, redis, clock) as web:
        await sign_in(web, provider)
        assert (await web.client.get("/api/conversations")).status_code == 401
        said = await web.client.post("/api/conversations", json={"idempotencyKey": "1", "message": "x"})
        assert said.status_code == 401


# where a browser is sent


@pytest.mark.parametrize(
    "wanted",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "", None, "evil", "/\t/evil",
     "/\r\nset-cookie:x", "/login?next=/", "/login", "\\\\evil", "/" + "a" * 600, "/ä"],
)  # fmt: skip
async def test_no_page_of_anybody_elses_is_one(wanted: str | None) -> None:
    assert own_path(wanted) == HOME


@pytest.mark.parametrize("wanted", ["/", "/conversations/web%3A1", "/?before=2030", "/conversations/a?x=//b"])
async def test_bosuns_own_pages_are(wanted: str) -> None:
    assert own_path(wanted) == wanted


@given(st.text(max_size=40) | st.text("/\\.:@?#%ab\t\r\n ", max_size=12))
def test_whatever_is_wanted_a_browser_stays(wanted: str) -> None:
    where = httpx.URL("http://localhost/").join(own_path(wanted))
    assert (where.scheme, where.host, where.port) == ("http", "localhost", None)
    assert own_path(wanted).startswith("/") and not own_path(wanted).startswith("//")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"issuer": "http://issuer.example"}, "issuer is"),
        ({"issuer": "issuer"}, "issuer is"),
        ({"issuer": "https://a.example?x=1"}, "issuer is"),
        ({"public_url": "ftp://bosun.example"}, "public_url is"),
        ({"client_secret": " "}, "client_secret is empty"),
        ({"account_id": ""}, "account_id is empty"),
    ],
)
def test_options_that_cannot_be_used_are_refused(changes: dict[str, str], problem: str) -> None:
    given = {"issuer": "https://a.example", "client_id": "b", "client_secret": "c", "public_url": "https://d.example",
             "account_id": "e"}  # fmt: skip
    with pytest.raises(ValueError, match=problem):
        LoginOptions(**cast("dict[str, Any]", {**given, **changes}))
