"""Who asks: an API token in the Authorization header, as RFC 6750 has it, and the scope that each route needs."""

from __future__ import annotations

from typing import Final, Protocol

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.http.refusals import Refusal, not_found, overloaded
from bosun.identity import Actor, Grant, Grants

_CHALLENGE: Final = 'Bearer realm="bosun"'
MOST_WAITING: Final = 1000
"""Requests beyond so many would wait until people give up. A refusal that has waited costs as much as an answer."""


class Authenticate(Protocol):
    """Returns the actor of a request that may use a scope, and may see a conversation where one is named."""

    async def __call__(self, request: Request, scope: str, conversation_id: str | None = None) -> Actor:
        """Raise `Refusal`: 401, 403, 404 for a conversation that is not there for the actor, 503 for too many."""
        ...


def token_authentication(engine: AsyncEngine, *, most_waiting: int = MOST_WAITING) -> Authenticate:
    """Return the check of API tokens stored in this database, with a bound on how many wait for it at once."""
    grants, waiting = Grants(engine), 0

    async def grant_of(token: str, conversation_id: str | None) -> Grant | None:
        nonlocal waiting
        if waiting >= most_waiting:
            raise overloaded()
        waiting += 1
        try:
            return await grants.of(token, conversation_id)
        finally:
            waiting -= 1

    async def authenticate(request: Request, scope: str, conversation_id: str | None = None) -> Actor:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise _unauthorized("This route needs an API token: Authorization: Bearer <token>.", _CHALLENGE)
        grant = await grant_of(token.strip(), conversation_id)
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
        if conversation_id is not None and not grant.sees:
            raise not_found()
        return grant.actor

    return authenticate


def _unauthorized(message: str, challenge: str) -> Refusal:
    return Refusal(401, "unauthorized", message, headers={"WWW-Authenticate": challenge})
