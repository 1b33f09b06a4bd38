"""The routes of the pages. They read what the reporting API reads, and write by the intake that its routes call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bosun.clock import CalendarPolicy
from bosun.dashboard.linking import LinkingPage
from bosun.dashboard.templates import environment
from bosun.dashboard.timeline import cursor, moments, read_cursor, timeline, whole_turns, words, written
from bosun.http.bodies import NewFork, NewMessage, read_fields
from bosun.http.login import PAGE_HEADERS
from bosun.http.refusals import Refusal, invalid_fields, not_found
from bosun.http.sessions import SignedIn, SignInNeeded, Visitor, read_form
from bosun.ids import IdSource
from bosun.link_codes import LinkCodes
from bosun.log.projection import conversation_view, summary_view
from bosun.log.reading import ConversationReader
from bosun.login.options import LoginOptions
from bosun.mailbox.intake import Intake
from bosun.mailbox.mailbox import Mailbox
from bosun.prices import Prices

PAGE: Final = 50
EVENTS: Final = 300
"""How much of a conversation one page tells, in rows of its log: a page is as fast in the longest conversation."""
HEADINGS: Final = {403: "This was not done", 404: "There is no such page", 413: "This is too large"}

Handler = Callable[[Request, Visitor], Awaitable[Response]]


class Pages:
    """Makes the pages of one app."""

    def __init__(
        self,
        options: LoginOptions,
        *,
        signed_in: SignedIn,
        reader: ConversationReader,
        mailbox: Mailbox,
        intake: Intake,
        ids: IdSource,
        calendar: CalendarPolicy,
        prices: Prices,
        codes: LinkCodes | None,
    ) -> None:
        self._options = options
        self._signed_in = signed_in
        self._reader = reader
        self._mailbox = mailbox
        self._intake = intake
        self._ids = ids
        self._codes = codes
        self._prices = prices
        self._templates = environment(links=codes is not None)
        self._templates.filters.update(moment=moments(calendar), words=words, written=written)

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter()

        @router.get("/")
        async def listed(request: Request) -> Response:
            return await self._page(request, None, self._list)

        @router.post("/conversations")
        async def begin(request: Request) -> Response:
            return await self._page(request, None, self._begin)

        @router.get("/conversations/{conversation_id}")
        async def conversation(request: Request, conversation_id: str) -> Response:
            return await self._page(request, conversation_id, self._conversation)

        @router.post("/conversations/{conversation_id}/messages")
        async def say(request: Request, conversation_id: str) -> Response:
            return await self._page(request, conversation_id, self._say)

        @router.post("/conversations/{conversation_id}/forks")
        async def fork(request: Request, conversation_id: str) -> Response:
            return await self._page(request, conversation_id, self._fork)

        @router.post("/conversations/{conversation_id}/stop")
        async def stop(request: Request, conversation_id: str) -> Response:
            return await self._page(request, conversation_id, self._stop)

        if self._codes is not None:
            linking = LinkingPage(self._codes, self._options, self._render)

            @router.get("/link")
            async def links(request: Request) -> Response:
                return await self._page(request, None, linking.show)

            @router.post("/link")
            async def link(request: Request) -> Response:
                return await self._page(request, None, linking.make)

        return router

    async def _page(self, request: Request, conversation_id: str | None, handler: Handler) -> Response:
        """Answer who has signed in; a refusal is a page with the words of the API's."""
        try:
            visitor = await self._signed_in(request)
        except SignInNeeded as needed:
            return RedirectResponse(needed.location, 303, headers=PAGE_HEADERS)
        try:
            await self._signed_in(request, conversation_id)
            return await handler(request, visitor)
        except Refusal as refusal:
            heading = HEADINGS.get(refusal.status, "This cannot be done")
            return self._render("problem", visitor, refusal.status, problem=refusal.message, heading=heading)

    async def _list(self, request: Request, visitor: Visitor, draft: str = "", problem: str = "") -> Response:
        before = request.query_params.get("before") if request.method == "GET" else None
        try:
            place = read_cursor(before)
        except ValueError as error:
            raise invalid_fields([("before", "names no place in the list")]) from error
        found = await self._reader.conversations_of(visitor.actor.id, PAGE, before=place)
        return self._render(
            "list",
            visitor,
            422 if problem else 200,
            conversations=[summary_view(each) for each in found],
            older=cursor(found, PAGE),
            paged=before is not None,
            draft=draft,
            problem=problem,
        )

    async def _conversation(self, request: Request, visitor: Visitor, draft: str = "", problem: str = "") -> Response:
        conversation_id = request.path_params["conversation_id"]
        found = await self._reader.conversation(conversation_id)
        if found is None:
            raise not_found()
        before = _number(request.query_params.get("before")) if request.method == "GET" else None
        events = await self._reader.events(conversation_id, before=before, limit=EVENTS)
        view = self._prices.told(conversation_view(found, events if len(events) < EVENTS else whole_turns(events)))
        state = await self._mailbox.state(conversation_id)
        shown = {message["id"] for message in view["messages"]}
        return self._render(
            "conversation",
            visitor,
            422 if problem else 200,
            view=view,
            timeline=timeline(view),
            status="stopping" if state.stopping else state.status,
            earlier=events[0].seq if events and events[0].seq > 1 else None,
            latest=before is None,
            waiting=[message for message in state.pending if message.id not in shown] if before is None else [],
            dead=state.dead_letters,
            prompt=None,
            draft=draft,
            problem=problem,
        )

    async def _begin(self, request: Request, visitor: Visitor) -> Response:
        fields = await read_form(request, visitor, self._options)
        try:
            said = read_fields(_message(fields), NewMessage)
        except Refusal as refusal:
            return await self._list(request, visitor, fields.get("message", ""), refusal.message)
        receipt = await self._intake.begin(visitor.actor, said.idempotencyKey, said.message)
        return _to(receipt.conversation_id)

    async def _say(self, request: Request, visitor: Visitor) -> Response:
        conversation_id = request.path_params["conversation_id"]
        fields = await read_form(request, visitor, self._options)
        try:
            said = read_fields(_message(fields), NewMessage)
        except Refusal as refusal:
            return await self._conversation(request, visitor, fields.get("message", ""), refusal.message)
        await self._intake.say(visitor.actor, conversation_id, said.idempotencyKey, said.message)
        return _to(conversation_id)

    async def _fork(self, request: Request, visitor: Visitor) -> Response:
        fields = await read_form(request, visitor, self._options)
        wanted = read_fields({"idempotencyKey": fields.get("key"), "messageId": fields.get("message")}, NewFork)
        conversation_id = request.path_params["conversation_id"]
        made = await self._intake.fork(visitor.actor, conversation_id, wanted.idempotencyKey, wanted.messageId)
        if made is None:
            raise invalid_fields([("message", "is no message of Bosun's in this conversation")])
        return _to(made.conversation_id)

    async def _stop(self, request: Request, visitor: Visitor) -> Response:
        await read_form(request, visitor, self._options)
        conversation_id = request.path_params["conversation_id"]
        await self._intake.stop(conversation_id)
        return _to(conversation_id)

    def _render(self, name: str, visitor: Visitor, code: int, **values: Any) -> Response:
        key = self._ids.nonce(visitor.actor.id, "form")
        text = self._templates.get_template(name).render(visitor=visitor, key=key, **{"problem": "", **values})
        return HTMLResponse(text.encode("utf-8", "replace"), code, headers=PAGE_HEADERS)


def _number(text: str | None) -> int | None:
    """Return the place in a conversation that a page has written. Raises `Refusal`."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= 1):
        raise invalid_fields([("before", "names no place in the conversation")])
    return int(text)


def _message(fields: dict[str, str]) -> dict[str, Any]:
    """Return a form's message as the API names it. A browser sends line ends as two characters."""
    return {"idempotencyKey": fields.get("key"), "message": fields.get("message", "").replace("\r\n", "\n")}


def _to(conversation_id: str) -> Response:
    return RedirectResponse(f"/conversations/{quote(conversation_id, safe='')}", 303, headers=PAGE_HEADERS)
