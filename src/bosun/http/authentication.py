"""Who asks: an API token in the Authorization header, as RFC 6750 has it, and the scope that each route needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.http.refusals import Refusal
from bosun.identity import Actor, grant_of

_CHALLENGE: Final = 'Bearer realm="bosun"'

Authenticate = Callable[[Request, str], Awaitable[Actor]]
"""Returns the actor of a request that may use a scope. Raises `Refusal` (401, 403)."""


def token_authentication(engine: AsyncEngine) -> Authenticate:
    """Return the check of API tokens stored in this database."""

    async def authenticate(request: Request, scope: str) -> Actor:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise _unauthorized("This route needs an API token: Authorization: Bearer <token>.", _CHALLENGE)
        grant = await grant_of(engine, token.strip())
        if grant is None:
            raise _unauthorized("The API token is not valid.", f'{_CHALLENGE}, error="invalid_token"')
        if scope not in grant.scopes:
            challenge = f'{_CHALLENGE}, error="insufficient_scope", scope="{scope}"'
            raise Refusal(
                403,
                "insufficient_scope",
                f"The API token lacks the scope {scope!r}.",
                headers={"WWW-Authenticate": challenge},
            )
        return grant.actor

    return authenticate


def _unauthorized(message: str, challenge: str) -> Refusal:
    return Refusal(401, "unauthorized", message, headers={"WWW-Authenticate": challenge})
