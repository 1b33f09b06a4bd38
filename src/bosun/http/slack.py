"""The way in from Slack: what Slack's Events API sends is proven to be Slack's, read, and handed on.

The answer comes when what was said is durable. Slack sends again what was not answered with 200 within three
seconds: the same message again is the same message.
"""

from __future__ import annotations

import logging
from typing import Final, Literal, Protocol, assert_never

from fastapi import APIRouter, Request

from bosun.clock import Clock
from bosun.http.bodies import read_bytes
from bosun.http.refusals import Refusal, invalid_fields
from bosun.slack.events import (
    AssistantThreadStarted,
    EventCallback,
    Ignored,
    MessageArrived,
    MessageChanged,
    MessageDeleted,
    SlackBodyInvalid,
    UrlVerification,
    decode,
)
from bosun.slack.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, SignatureRefused, SlackSignature

PATH: Final = "/api/webhooks/slack"
LARGEST_EVENT: Final = 1024 * 1024
"""Bytes. A change of a long message has it four times: old and new, as text and as blocks."""

_LOGGER: Final = logging.getLogger("bosun.http")

Arrival = Literal["accepted", "duplicate", "not_for_bosun"]


class SlackIntake(Protocol):
    """Takes in what people did on Slack. It has been made durable when a call returns."""

    async def arrived(self, event: MessageArrived, team_id: str) -> Arrival:
        """Take in a message, which may be none of Bosun's business, or be there already."""
        ...

    async def changed(self, event: MessageChanged, team_id: str) -> object:
        """Take in new words of a message."""
        ...

    async def deleted(self, event: MessageDeleted, team_id: str) -> object:
        """Take in that a message is gone."""
        ...

    async def assistant_started(self, event: AssistantThreadStarted, team_id: str) -> object:
        """Take in that a person opened a thread with Bosun."""
        ...


def slack_routes(
    *, signature: SlackSignature, clock: Clock, intake: SlackIntake, bot_user_id: str | None = None
) -> APIRouter:
    """Return the route of Slack's events; `bot_user_id` is Bosun's own user where an event does not say it."""
    router = APIRouter()

    @router.post(PATH)
    async def event(request: Request) -> dict[str, str]:
        body = await read_bytes(request, most=LARGEST_EVENT)
        _check(request, signature, body, clock)
        _log_retry(request)
        try:
            said = decode(body, bot_user_id=bot_user_id)
        except SlackBodyInvalid as error:
            raise _unreadable(error) from error
        if isinstance(said, UrlVerification):
            return {"challenge": said.challenge}
        return {"status": "ignored" if isinstance(said, Ignored) else await _take_in(intake, said)}

    return router


async def _take_in(intake: SlackIntake, said: EventCallback) -> str:
    match said.event:
        case Ignored(why):
            _LOGGER.debug("slack event %s is ignored: %s", said.event_id, why)
            return "ignored"
        case MessageArrived() as event:
            return await intake.arrived(event, said.team_id)
        case MessageChanged() as event:
            await intake.changed(event, said.team_id)
        case MessageDeleted() as event:
            await intake.deleted(event, said.team_id)
        case AssistantThreadStarted() as event:
            await intake.assistant_started(event, said.team_id)
        case _ as never:
            assert_never(never)
    return "accepted"


def _check(request: Request, signature: SlackSignature, body: bytes, clock: Clock) -> None:
    try:
        signature.check(
            timestamps=request.headers.getlist(TIMESTAMP_HEADER),
            signatures=request.headers.getlist(SIGNATURE_HEADER),
            body=body,
            now=clock.now(),
        )
    except SignatureRefused as error:
        raise Refusal(401, "unauthorized", f"This request is not signed by Slack: {error}") from error
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        problem = "is not application/json: point only Slack's event subscriptions at this address"
        raise Refusal(415, "unsupported_media_type", f"The Content-Type {problem}", fields=[("Content-Type", problem)])


def _unreadable(error: SlackBodyInvalid) -> Refusal:
    _LOGGER.warning("a signed event of Slack cannot be read: %s", error)
    if error.no_json:
        return Refusal(400, "invalid_json", f"The request cannot be read: {error}", fields=error.fields)
    return invalid_fields(error.fields)


def _log_retry(request: Request) -> None:
    attempt = request.headers.get("x-slack-retry-num")
    if attempt is not None:
        _LOGGER.info("slack sends again: attempt %.20r, %.60r", attempt, request.headers.get("x-slack-retry-reason"))
