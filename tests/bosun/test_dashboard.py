"""The pages: what they show, what their forms do, who sees them; and that nobody's words become markup."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
import pytest_asyncio
from conftest import HandClock
from hypothesis import given, settings
from hypothesis import strategies as st
from oidc_provider import OidcProvider, oidc_provider
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from test_login import SESSION, sign_in
from web_bench import Web, begin, open_web

from bosun.clock import CalendarPolicy
from bosun.dashboard.templates import environment
from bosun.dashboard.timeline import cursor, moments, read_cursor, timeline, words, written
from bosun.http.sessions import Visitor
from bosun.identity import Actor
from bosun.log.events import Compaction, TokenUsage, TurnRouted
from bosun.log.messages import ConversationSummary, ProposedCall
from bosun.log.projection import conversation_view
from bosun.log.reading import ConversationReader

pytestmark = pytest.mark.asyncio


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with oidc_provider() as served:
        yield served


@pytest_asyncio.fixture
async def web(provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Web]:
    """A browser that has signed in."""
    async with open_web(engine, redis, clock, login=provider.options()) as web:
        assert (await sign_in(web, provider)).status_code == 303
        yield web


class Read(HTMLParser):
    """What a browser sees of a page: its texts, its tags, its fields."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._within: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" not in self._within:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def field(self, name: str, nth: int = 0) -> str:
        return [each["value"] or "" for each in self.all("input") if each.get("name") == name][nth]


async def page(web: Web, path: str, status: int = 200) -> Read:
    response = await web.client.get(path)
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("text/html")
    return Read(response.text)


async def said(web: Web, message: str = "Which plan am I on?") -> str:
    """Begin a conversation by the form of the first page; return its path."""
    first = await page(web, "/")
    form = {"csrf": first.field("csrf"), "key": first.field("key"), "message": message}
    sent = await web.client.post("/conversations", data=form)
    assert sent.status_code == 303, sent.text
    return sent.headers["location"]


def conversation_of(path: str) -> str:
    return path.rpartition("/")[2].replace("%3A", ":")


async def answer(web: Web, path: str, text: str = "The active plan.") -> None:
    """Have the conversation's message answered, by the functions that a worker calls."""
    conversation_id = conversation_of(path)
    state = await web.mailbox.state(conversation_id)
    for message in state.pending:
        await web.log.accept_message(conversation_id, message)
    turn = await web.log.start_turn(conversation_id, state.pending)
    await web.log.record_route(turn, TurnRouted(
        turn_id=turn.id, profile="quick", reasoning="low", confidence=0.9, reason="a <b>question</b>", by="model",
    ))  # fmt: skip
    await web.log.replace_history(turn, 1, Compaction(
        turn_id=turn.id, upto=1, summary="They asked.", replaced=3, tokens_before=900, tokens_after=300,
    ))  # fmt: skip
    (call,) = await web.log.record_calls(turn, 1, "", [ProposedCall(name="look", arguments='{"at": "<i>"}')])
    await web.log.record_review(
        turn, call, effect="external", decision="allow", risk="high", reason="just this", by="model"
    )
    await web.log.start_tool(turn, call, {"at": "<i>"})
    await web.log.finish_tool(turn, call, "succeeded", "found <script>")
    usage = {"agent": TokenUsage(input_tokens=343, output_tokens=29), "router": TokenUsage(input_tokens=5)}
    await web.log.commit_reply(turn, text, usage)


async def test_a_person_begins_and_goes_on_and_sees_both(web: Web) -> None:
    path = await said(web)
    there = await page(web, path)
    assert "Which plan am I on?" in there.text
    assert "waits" in there.text
    form = {"csrf": there.field("csrf"), "key": there.field("key"), "message": "And now?\r\nHello"}
    for _ in range(2):  # sent twice is one message
        assert (await web.client.post(f"{path}/messages", data=form)).headers["location"] == path
    state = await web.mailbox.state(conversation_of(path))
    assert [message.text for message in state.pending] == ["Which plan am I on?", "And now?\nHello"]
    assert [message.author for message in state.pending] == ["Morgan", "Morgan"]
    assert "Without a title" in (await page(web, "/")).text


async def test_a_turn_is_told_with_all_that_the_api_tells(web: Web) -> None:
    path = await said(web)
    await answer(web, path)
    there = await page(web, path)
    for told in ("The active plan.", "succeeded", "1 tool call", "quick, low reasoning", "a <b>question</b>", "look",
                 '"at": "<i>"', "found <script>", "Guardian", "allow", "high risk", "just this",
                 "3 messages summarized", "900", "300", "They asked.", "343 tokens in",
                 "0.000918 USD at the prices of 2026-12-01", "no price known"):  # fmt: skip
        assert told in there.text, told
    assert not there.all("script") and not there.all("i")
    assert [said["text"] for said in (await reply_of(web, path))["messages"]] == [
        "Which plan am I on?",
        "The active plan.",
    ]


async def reply_of(web: Web, path: str) -> Any:
    reader = ConversationReader(web.engine)
    conversation_id = conversation_of(path)
    found = await reader.conversation(conversation_id)
    assert found is not None
    return conversation_view(found, await reader.events(conversation_id))


async def test_a_fork_after_a_reply_is_a_conversation_of_its_own(web: Web) -> None:
    path = await said(web)
    await answer(web, path)
    there = await page(web, path)
    form = {"csrf": there.field("csrf"), "key": there.field("key"), "message": there.field("message")}
    forked = await web.client.post(f"{path}/forks", data=form)
    assert forked.status_code == 303
    assert forked.headers["location"] != path
    assert "The active plan." in (await page(web, forked.headers["location"])).text
    assert len((await page(web, "/")).all("a")) == 3 + 2  # the skip link, two pages, and two conversations
    form["message"] = "message:none"
    assert (await web.client.post(f"{path}/forks", data={**form, "key": "other"})).status_code == 422


async def test_a_stop_discards_what_waits(web: Web) -> None:
    path = await said(web)
    there = await page(web, path)
    assert [each["action"] for each in there.all("form")][-2] == f"{path}/stop"
    assert (await web.client.post(f"{path}/stop", data={"csrf": there.field("csrf")})).headers["location"] == path
    assert (await web.mailbox.state(conversation_of(path))).stopping
    assert "stopping" in (await page(web, path)).text


@pytest.mark.parametrize(
    ("message", "told"), [("", "must not be blank"), (" \n ", "must not be blank"), ("x" * 20_001, "at most 20000")]
)
async def test_what_cannot_be_sent_stays_in_the_form(web: Web, message: str, told: str) -> None:
    path = await said(web)
    for where, action in ((path, f"{path}/messages"), ("/", "/conversations")):
        there = await page(web, where)
        form = {"csrf": there.field("csrf"), "key": "k", "message": message}
        refused = await web.client.post(action, data=form)
        assert refused.status_code == 422
        assert told in Read(refused.text).text
        assert message.strip() in Read(refused.text).text
    assert len((await web.mailbox.state(conversation_of(path))).pending) == 1


FORMS = ["/conversations", "{path}/messages", "{path}/forks", "{path}/stop", "/logout"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("fields", "headers", "status"),
    [
        ({}, {}, 403),
        ({"csrf": "guessed"}, {}, 403),
        ({"csrf": ""}, {}, 403),
        ({"csrf": "RIGHT"}, {"origin": "https://evil.example"}, 403),
        ({"csrf": "RIGHT"}, {"origin": "null"}, 403),
        ({"csrf": "RIGHT"}, {"sec-fetch-site": "cross-site"}, 403),
        ({"csrf": "RIGHT"}, {"sec-fetch-site": "same-site"}, 403),
        ({"csrf": "RIGHT"}, {"content-type": "text/plain"}, 422),
    ],
)
async def test_a_form_of_somebody_elses_does_nothing(
    web: Web, form: str, fields: dict[str, str], headers: dict[str, str], status: int
) -> None:
    path = await said(web)
    right = (await page(web, path)).field("csrf")
    sent = {
        **{name: right if value == "RIGHT" else value for name, value in fields.items()},
        "key": "k",
        "message": "x",
    }
    body = "&".join(f"{name}={value}" for name, value in sent.items())
    urlencoded = {"content-type": "application/x-www-form-urlencoded", **headers}
    refused = await web.client.post(form.format(path=path), content=body, headers=urlencoded)
    assert refused.status_code == status
    state = await web.mailbox.state(conversation_of(path))
    assert ([message.text for message in state.pending], state.stopping) == (["Which plan am I on?"], False)
    assert SESSION in web.client.cookies
    assert len((await page(web, "/")).all("li")) == 1


PAGES = ["/", "/conversations/web:x"]


@pytest.mark.parametrize("path", PAGES)
async def test_who_has_not_signed_in_is_sent_to_the_login_and_back(web: Web, path: str) -> None:
    web.client.cookies.clear()
    sent = await web.client.get(path)
    assert sent.status_code == 303
    assert sent.headers["location"].startswith("/login?next=%2F")
    for form in FORMS:
        away = await web.client.post(form.format(path="/conversations/web:x"), data={"csrf": "x"})
        assert (away.status_code, away.headers["location"]) == (303, "/login?next=%2F")


async def test_another_persons_conversation_is_not_there(web: Web) -> None:
    theirs = await begin(web, actor="eve")
    for path in (theirs, "web:nowhere", "%00", "x" * 3000):
        assert "There is no such conversation." in (await page(web, f"/conversations/{path}", 404)).text
    mine = await page(web, "/")
    form = {"csrf": mine.field("csrf"), "key": "k", "message": "x"}
    for action in ("messages", "forks", "stop"):
        assert (await web.client.post(f"/conversations/{theirs}/{action}", data=form)).status_code == 404
    assert len((await web.mailbox.state(theirs)).pending) == 1


async def test_pages_are_for_this_browser_alone(web: Web) -> None:
    path = await said(web)
    for where in ("/", path, "/login"):
        headers = (await web.client.get(where)).headers
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


async def test_pages_can_be_used_without_seeing_them(web: Web) -> None:
    """One heading of the first rank, a name for every field and button, landmarks, a language, a way past the top."""
    path = await said(web)
    await answer(web, path)
    for where in ("/", path):
        there = await page(web, where)
        assert len(there.all("h1")) == len(there.all("main")) == len(there.all("nav")) == 1
        assert there.all("html")[0]["lang"] == "en"
        assert there.all("a")[0]["href"] == "#main"
        labelled = {each["for"] for each in there.all("label")}
        for area in there.all("textarea"):
            assert area["id"] in labelled
        assert all(each["type"] == "hidden" for each in there.all("input"))
        outside = [value for _, each in there.tags for value in (each.get("href"), each.get("src"), each.get("action"))]
        assert all(value.startswith(("/", "#")) for value in outside if value)


# what is written


def rendered(view: dict[str, Any], **values: Any) -> Read:
    templates = environment()
    templates.filters.update(moment=moments(CalendarPolicy()), words=words, written=written)
    visitor = Visitor(Actor("me", values.pop("name", "Me"), "a"), "secret")
    given = {"visitor": visitor, "key": "k", "draft": "", "problem": "", "status": "idle", "waiting": (), "dead": ()}
    given |= {"earlier": None, "latest": True}
    return Read(
        templates.get_template("conversation").render(
            **{**given, "prompt": None, "view": view, "timeline": timeline(view), **values}
        )
    )


AT = "2030-01-15T12:00:00Z"
HOSTILE = st.text(max_size=60) | st.sampled_from(
    ["<script>alert(1)</script>", "</p></article>", "{{ 7*7 }}", "{% raw %}", "&lt;b&gt;", "' onmouseover='x",
     '"><img src=x>',
     "\u202eabc", "x" * 500, "]]>", "<!--", "null"]
)  # fmt: skip


@settings(derandomize=True, database=None, deadline=None, max_examples=150)
@given(text=HOSTILE, author=HOSTILE, title=HOSTILE, tool=HOSTILE, output=HOSTILE, reason=HOSTILE, name=HOSTILE)
async def test_nobodys_words_become_markup(
    text: str, author: str, title: str, tool: str, output: str, reason: str, name: str
) -> None:
    def view(text: str, author: str, title: str, tool: str, output: str, reason: str) -> dict[str, Any]:
        said = {"id": "m", "role": "assistant", "kind": "answer", "author": author, "text": text, "edited": False,
                "deleted": False, "turnId": "t", "createdAt": AT}  # fmt: skip
        turn = {"id": "t", "status": "succeeded", "error": None,
                "routing": {"profile": "quick", "reasoning": "low", "confidence": 0.9, "reason": reason, "by": "model"},
                "toolCalls": [{"id": "c", "name": tool, "status": "succeeded", "input": {"at": output},
                               "output": output}],
                "guardianReviews": [{"tool": tool, "decision": "deny", "risk": "high", "reason": reason}],
                "compactions": [{"kind": "compaction", "replaced": 1, "tokensBefore": 2, "tokensAfter": 1,
                                 "summary": text}],
                "pauses": 0, "startedAt": AT, "endedAt": AT, "usage": {}, "cost": {}}  # fmt: skip
        return {"id": "web:c", "title": title, "location": {"kind": "web"}, "createdAt": AT, "messages": [said],
                "turns": [turn]}  # fmt: skip

    plain = rendered(view("a", "b", "c", "d", "e", "f"), name="n")
    hostile = rendered(view(text, author, title, tool, output, reason), name=name)
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert [sorted(each) for _, each in hostile.tags] == [sorted(each) for _, each in plain.tags]
    if not any(ord(character) < 32 or character in "\x7f\x85\u2028\u2029" for character in text + author + name):
        for words_ in (text, author, name):
            assert words_ in hostile.text


async def test_a_turn_stands_before_what_it_said() -> None:
    def message(name: str, role: str, turn: str | None, at: str) -> dict[str, Any]:
        return {"id": name, "role": role, "turnId": turn, "createdAt": at}

    def turn(name: str, ended: str | None) -> dict[str, Any]:
        return {"id": name, "endedAt": ended}

    view = {
        "messages": [message("1", "user", "a", "01"), message("2", "assistant", "a", "02"),
                     message("3", "user", "b", "05"), message("4", "user", "c", "07")],
        "turns": [turn("a", "02"), turn("b", "06"), turn("c", None)],
    }  # fmt: skip
    order = [(item["message"] or item["turn"])["id"] for item in timeline(view)]
    assert order == ["1", "a", "2", "3", "b", "4", "c"]


@given(
    st.datetimes(timezones=st.just(HandClock().at.tzinfo)), st.text(st.characters(exclude_characters="\0"), min_size=1)
)
def test_a_place_in_the_list_is_read_as_it_was_written(at: Any, name: str) -> None:
    last = ConversationSummary(id=name, account_id="a", actor_id="b", title=None, created_at=at)
    assert read_cursor(cursor([last], 1)) == (at, name)
    assert cursor([last], 2) is None


@given(st.text(max_size=60))
def test_whatever_names_a_place_it_is_one_or_is_refused(text: str) -> None:
    try:
        found = read_cursor(text)
    except ValueError:
        return
    assert found is not None and re.match(r"\d{4}", text)
