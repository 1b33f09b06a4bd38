"""The way in on the web: begin a conversation, or say something in one. The answer comes after the durable append."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from bosun.http.authentication import Authenticate
from bosun.http.bodies import NewMessage, read_body
from bosun.http.refusals import not_found
from bosun.identity import Actor
from bosun.log.reading import ConversationReader
from bosun.mailbox.intake import Intake, Receipt

WRITE = "conversations:write"


class Accepted(BaseModel):
    """The answer to a message: it is durable now, or was before."""

    conversationId: str
    messageId: str
    status: Literal["accepted", "duplicate"]


def conversation_routes(*, authenticate: Authenticate, reader: ConversationReader, intake: Intake) -> APIRouter:
    """Return the routes that take messages."""
    router = APIRouter(prefix="/api/conversations")

    @router.post("", status_code=202)
    async def begin(request: Request) -> Accepted:
        actor = await authenticate(request, WRITE)
        body = await read_body(request, NewMessage)
        return _accepted(await intake.begin(actor, body.idempotencyKey, body.message))

    @router.post("/{conversation_id}/messages", status_code=202)
    async def say(request: Request, conversation_id: str) -> Accepted:
        actor = await authenticate(request, WRITE)
        await visible(reader, actor, conversation_id)
        body = await read_body(request, NewMessage)
        return _accepted(await intake.say(actor, conversation_id, body.idempotencyKey, body.message))

    return router


def _accepted(receipt: Receipt) -> Accepted:
    status: Literal["accepted", "duplicate"] = "accepted" if receipt.new else "duplicate"
    return Accepted(conversationId=receipt.conversation_id, messageId=receipt.message_id, status=status)


async def visible(reader: ConversationReader, actor: Actor, conversation_id: str) -> None:
    """Raise a 404 unless the actor may see the conversation."""
    conversation = None
    if conversation_id.isascii() and conversation_id.isprintable():
        conversation = await reader.conversation(conversation_id)
    if conversation is None or conversation.actor_id != actor.id:
        raise not_found()
