"""The way out on the web: the reporting API.

An actor sees the conversations that the actor began, or wrote in where several people do, and nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from bosun.http.authentication import Authenticate
from bosun.http.refusals import not_found
from bosun.log.messages import InboundMessage
from bosun.log.projection import conversation_view, event_view, instant, summary_view
from bosun.log.reading import ConversationReader
from bosun.mailbox.mailbox import Mailbox
from bosun.prices import Prices

READ = "conversations:read"
MOST = 200

Limit = Annotated[int, Query(ge=1, le=MOST)]
Before = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


def reporting_routes(
    *, authenticate: Authenticate, reader: ConversationReader, mailbox: Mailbox, prices: Prices
) -> APIRouter:
    """Return the routes that read."""
    router = APIRouter(prefix="/api/conversations")

    @router.get("")
    async def conversations(request: Request, limit: Limit = 50) -> dict[str, Any]:
        actor = await authenticate(request, READ)
        found = await reader.conversations_of(actor.id, limit)
        return {"conversations": [summary_view(conversation) for conversation in found]}

    @router.get("/{conversation_id}")
    async def conversation(request: Request, conversation_id: str) -> dict[str, Any]:
        await authenticate(request, READ, conversation_id)
        found = await reader.conversation(conversation_id)
        if found is None:
            raise not_found()
        return prices.told(conversation_view(found, await reader.events(conversation_id)))

    @router.get("/{conversation_id}/events")
    async def events(
        request: Request, conversation_id: str, before: Before = None, limit: Limit = 100
    ) -> dict[str, Any]:
        await authenticate(request, READ, conversation_id)
        found = await reader.events(conversation_id, before=before, limit=limit)
        revisions = await reader.revisions(conversation_id)
        earlier = found[0].seq if found and found[0].seq > 1 else None
        return {"events": [event_view(event, revisions) for event in found], "before": earlier}

    @router.get("/{conversation_id}/pending")
    async def pending(request: Request, conversation_id: str) -> dict[str, Any]:
        await authenticate(request, READ, conversation_id)
        state = await mailbox.state(conversation_id)
        lease = None
        if state.lease is not None:
            lease = {
                "expiresAt": instant(state.lease.expires_at),
                "checkedInAt": instant(state.lease.checked_in_at),
            }
        return {
            "conversationId": conversation_id,
            "status": "stopping" if state.stopping else state.status,
            "pending": [_waiting(message) for message in state.pending],
            "retries": state.retries,
            "lease": lease,
            "deadLetters": [_waiting(message) for message in state.dead_letters],
            "authorizationPrompt": None,
        }

    return router


def _waiting(message: InboundMessage) -> dict[str, Any]:
    return {
        "id": message.id,
        "author": message.author,
        "text": message.text,
        "receivedAt": instant(message.received_at),
    }
