"""The routes by which a browser signs in and out."""

from __future__ import annotations

import logging
from html import escape
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bosun.http.sessions import SignedIn, SignInNeeded, cookie_name, read_form
from bosun.login.login import Login
from bosun.login.oidc import LoginFailed
from bosun.login.options import LoginOptions
from bosun.login.sessions import LONGEST_AGE, Sessions

ATTEMPT_COOKIE: Final = "bosun_login"
ATTEMPT_SECONDS: Final = 600
LONGEST: Final = 4096

PAGE_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",  # with none at all, browsers say "null" where a form comes from
    "X-Content-Type-Options": "nosniff",
}


def login_routes(options: LoginOptions, *, login: Login, sessions: Sessions, signed_in: SignedIn) -> APIRouter:
    """Return the routes."""
    router = APIRouter()
    session_cookie = cookie_name(options)

    @router.get("/login")
    async def begin(request: Request) -> Response:
        try:
            begun = await login.begin(request.query_params.get("next"))
        except LoginFailed as failure:
            return _failed(failure)
        response = RedirectResponse(begun.url, 303, headers=PAGE_HEADERS)
        response.set_cookie(
            ATTEMPT_COOKIE, begun.browser, max_age=ATTEMPT_SECONDS, path="/login", secure=options.secure,
            httponly=True, samesite="lax",
        )  # fmt: skip
        return response

    @router.get("/login/callback")
    async def finish(request: Request) -> Response:
        told = request.query_params
        state, code, browser = told.get("state", ""), told.get("code", ""), request.cookies.get(ATTEMPT_COOKIE, "")
        try:
            if told.get("iss", options.issuer) != options.issuer:
                raise LoginFailed("the answer is another issuer's (RFC 9207)")
            if not state or not browser or max(map(len, (state, code, browser))) > LONGEST:
                raise LoginFailed("the answer has no state, or the browser no cookie")
            if not code:
                raise LoginFailed(f"the issuer signed nobody in: {told.get('error', 'no code')[:100]!r}")
            done = await login.finish(
                state=state, code=code, browser=browser, earlier=request.cookies.get(session_cookie)
            )
        except LoginFailed as failure:
            return _failed(failure)
        response = RedirectResponse(done.next, 303, headers=PAGE_HEADERS)
        response.delete_cookie(ATTEMPT_COOKIE, path="/login", secure=options.secure, httponly=True, samesite="lax")
        response.set_cookie(
            session_cookie, done.session, max_age=int(LONGEST_AGE.total_seconds()), path="/", secure=options.secure,
            httponly=True, samesite="lax",
        )  # fmt: skip
        return response

    @router.post("/logout")
    async def leave(request: Request) -> Response:
        try:
            visitor = await signed_in(request)
        except SignInNeeded as needed:
            return RedirectResponse(needed.location, 303, headers=PAGE_HEADERS)
        await read_form(request, visitor, options)
        await sessions.end(request.cookies[session_cookie])
        response = HTMLResponse(_page("Signed out", "You are signed out."), headers=PAGE_HEADERS)
        response.delete_cookie(session_cookie, path="/", secure=options.secure, httponly=True, samesite="lax")
        return response

    return router


def _failed(failure: LoginFailed) -> Response:
    logging.getLogger("bosun.login").warning("a login failed: %s", failure)
    return HTMLResponse(_page("Not signed in", failure.sentence), 400, headers=PAGE_HEADERS)


def _page(title: str, sentence: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} – Bosun</title>'
        '<meta name="viewport" content="width=device-width"><style>body{font:1rem/1.5 system-ui,sans-serif;'
        "max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style></head>"
        f"<body><main><h1>{escape(title)}</h1><p>{escape(sentence)}</p>"
        '<p><a href="/login">Sign in</a></p></main></body></html>'
    )
