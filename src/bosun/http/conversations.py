"""The way in on the web: begin a conversation, say something in one, stop it, fork it.

The answer comes when what was said is durable.
"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from bosun.http.authentication import Authenticate
from bosun.http.bodies import NewFork, NewMessage, Nothing, read_body
from bosun.http.refusals import invalid_fields
from bosun.mailbox.intake import Intake, Receipt

WRITE = "conversations:write"


class Accepted(BaseModel):
    """The answer to a message: it is durable now, or was before."""

    conversationId: str
    messageId: str
    status: Literal["accepted", "duplicate"]


class Stopping(BaseModel):
    """The answer to a stop: it is being carried out, or there was nothing to stop."""

    conversationId: str
    status: Literal["stopping", "idle"]


class Forked(BaseModel):
    """The answer to a fork: it is there now, or was before."""

    conversationId: str
    status: Literal["created", "duplicate"]


def conversation_routes(*, authenticate: Authenticate, intake: Intake) -> APIRouter:
    """Return the routes that write."""
    router = APIRouter(prefix="/api/conversations")

    @router.post("", status_code=202)
    async def begin(request: Request) -> Accepted:
        actor = await authenticate(request, WRITE)
        body = await read_body(request, NewMessage)
        return _accepted(await intake.begin(actor, body.idempotencyKey, body.message))

    @router.post("/{conversation_id}/messages", status_code=202)
    async def say(request: Request, conversation_id: str) -> Accepted:
        actor = await authenticate(request, WRITE, conversation_id)
        body = await read_body(request, NewMessage)
        return _accepted(await intake.say(actor, conversation_id, body.idempotencyKey, body.message))

    @router.post("/{conversation_id}/stop", status_code=202)
    async def stop(request: Request, conversation_id: str) -> Stopping:
        await authenticate(request, WRITE, conversation_id)
        await read_body(request, Nothing, empty=True)
        found = await intake.stop(conversation_id)
        return Stopping(conversationId=conversation_id, status="stopping" if found else "idle")

    @router.post("/{conversation_id}/forks", status_code=202)
    async def fork(request: Request, response: Response, conversation_id: str) -> Forked:
        actor = await authenticate(request, WRITE, conversation_id)
        body = await read_body(request, NewFork)
        made = await intake.fork(actor, conversation_id, body.idempotencyKey, body.messageId)
        if made is None:
            raise invalid_fields([("messageId", "is no message of Bosun's in this conversation")])
        if not made.new:
            response.status_code = 200
        return Forked(conversationId=made.conversation_id, status="created" if made.new else "duplicate")

    return router


def _accepted(receipt: Receipt) -> Accepted:
    status: Literal["accepted", "duplicate"] = "accepted" if receipt.new else "duplicate"
    return Accepted(conversationId=receipt.conversation_id, messageId=receipt.message_id, status=status)
