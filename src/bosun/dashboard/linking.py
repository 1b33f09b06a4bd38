"""The page on which a person makes the code that says who they are on Slack."""

from __future__ import annotations

from typing import Final, Protocol

from fastapi import Request
from fastapi.responses import Response

from bosun.http.sessions import Visitor, read_form
from bosun.link_codes import CODE_AGE, LinkCodes
from bosun.login.options import LoginOptions

MINUTES: Final = int(CODE_AGE.total_seconds()) // 60


class Render(Protocol):
    """Makes a page of a template."""

    def __call__(self, name: str, visitor: Visitor, code: int, **values: object) -> Response:
        """Return the answer with a status code."""
        ...


class LinkingPage:
    """Shows who a person is on Slack, and makes codes. A code is shown once, in the answer that made it."""

    def __init__(self, codes: LinkCodes, options: LoginOptions, render: Render) -> None:
        self._codes = codes
        self._options = options
        self._render = render

    async def show(self, request: Request, visitor: Visitor) -> Response:
        """Answer with the page."""
        return await self._answer(visitor, None)

    async def make(self, request: Request, visitor: Visitor) -> Response:
        """Make a code, which takes the place of an earlier one. Raises `Refusal` for a form that is not Bosun's."""
        await read_form(request, visitor, self._options)
        return await self._answer(visitor, await self._codes.make(visitor.actor.id))

    async def _answer(self, visitor: Visitor, made: str | None) -> Response:
        linked = await self._codes.linked(visitor.actor.id)
        return self._render("link", visitor, 200, linked=linked, link_code=made, minutes=MINUTES)
