"""Who asks for a page: the session that a browser's cookie names; and that a form was sent by a page of Bosun's."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import parse_qsl, quote

from fastapi import Request

from bosun.http.bodies import read_bytes
from bosun.http.refusals import Refusal, invalid_fields, not_found
from bosun.identity import Actor
from bosun.login.options import LoginOptions
from bosun.login.sessions import Sessions

CSRF_FIELD: Final = "csrf"
MOST_FIELDS: Final = 20


@dataclass(frozen=True)
class Visitor:
    """A person who has signed in, and the secret that the forms of their pages carry."""

    actor: Actor
    csrf: str


class SignInNeeded(Exception):
    """Nobody is signed in: a page sends the browser to the login, and back to `wanted`."""

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.location = f"/login?next={quote(wanted, safe='')}"


class SignedIn(Protocol):
    """Returns the visitor of a request, who may see the conversation that is named."""

    async def __call__(self, request: Request, conversation_id: str | None = None) -> Visitor:
        """Raise `SignInNeeded`, and `Refusal` 404 for a conversation that is not there for the visitor."""
        ...


def cookie_name(options: LoginOptions) -> str:
    """Return what the session's cookie is called. With the prefix, browsers take it from this host by https alone."""
    return "__Host-bosun_session" if options.secure else "bosun_session"


def session_authentication(options: LoginOptions, sessions: Sessions) -> SignedIn:
    """Return the check of sessions."""
    name = cookie_name(options)

    async def signed_in(request: Request, conversation_id: str | None = None) -> Visitor:
        token = request.cookies.get(name)
        session = await sessions.find(token) if token else None
        if session is None:
            wanted = request.url.path if request.method == "GET" else "/"
            raise SignInNeeded(wanted)
        if conversation_id is not None and not await sessions.sees(session.actor.id, conversation_id):
            raise not_found()
        return Visitor(session.actor, session.csrf)

    return signed_in


async def read_form(request: Request, visitor: Visitor, options: LoginOptions) -> dict[str, str]:
    """Return the fields of a form that a page of Bosun's sent.

    The session's secret has to be in it. A browser that says where the form came from has to name Bosun: that holds
    where the secret would have leaked, too. Raises `Refusal`: 403 `csrf`, 413, 422.
    """
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    if (origin is not None and origin != options.origin) or site not in (None, "same-origin", "none"):
        raise _forged()
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise invalid_fields([("form", "has to be sent as application/x-www-form-urlencoded")])
    body = await read_bytes(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
            strict_parsing=True,
        )
    except ValueError as error:
        raise invalid_fields([("form", "cannot be read")]) from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise invalid_fields([("form", "names a field twice")])
    given = fields.pop(CSRF_FIELD, "").encode("utf-8", "surrogatepass")
    if not hmac.compare_digest(given, visitor.csrf.encode()):
        raise _forged()
    return fields


def _forged() -> Refusal:
    return Refusal(403, "csrf", "This form was not sent by a page of Bosun's, or the page is too old: load it again.")
