"""The stand-in for Slack's Web API: real HTTP on loopback, and the refusals of the real service."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol

from seatrial.serving import Receive, Scope, Send, cut
from seatrial.slack import SlackAccess, SlackCall, SlackPost, SlackThread
from seatrial.standins.slack import arguments as reading
from seatrial.standins.slack.faults import Fault, Faults
from seatrial.standins.slack.methods import METHODS
from seatrial.standins.slack.refusals import Refused
from seatrial.standins.slack.workspace import Workspace

PATH = "/api/"

_STATUS = {"ratelimited": 429, "service_unavailable": 503, "fatal_error": 500, "internal_error": 500}
_AGAIN = frozenset(_STATUS)  # failures that pass


class Onlooker(Protocol):
    """Who hears what the agent does in the workspace, before the agent has its answer."""

    async def posted(self, post: SlackPost) -> None:
        """Hear of a message of the agent's. Its answer waits until this returns."""

    def failed_request(self) -> None:
        """Hear that a call fails in a way that an agent may answer by waiting and calling again."""


class WebApi:
    """Slack's Web API over one workspace. ``calls`` are those of the agent, in the order in which they came."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.bot_token = f"xoxb-{workspace.secret('bot token')[:32]}"
        self.signing_secret = workspace.secret("signing secret")[:32]
        self.calls: list[SlackCall] = []
        self.faults = Faults(lambda method: method in METHODS)
        self.onlooker: Onlooker | None = None

    def access(self, url: str) -> SlackAccess:
        """Return what an agent needs to know that finds the stand-in at this address."""
        workspace = self.workspace
        return SlackAccess(
            f"{url}{PATH}", self.bot_token, self.signing_secret, workspace.team_id, bot_user_id=workspace.bot.id
        )

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI app; it has no lifespan."""
        if scope["type"] != "http":
            raise ValueError(f"the stand-in for Slack serves HTTP, not '{scope['type']}'")
        method = str(scope["path"]).removeprefix(PATH)
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        body = await _body(receive)
        fault = self.faults.next(method)
        values: dict[str, Any] = {}
        answer: dict[str, Any] = {}
        error: str | None = None
        try:
            values = reading.read(scope["query_string"], headers.get("content-type", ""), body)
            self._authenticate(headers.get("authorization", ""), values)
            if method not in METHODS:
                raise Refused("unknown_method")
            _fail(fault)
            answer = METHODS[method](self.workspace, reading.Arguments(values))
        except Refused as refused:
            error = refused.error
            answer = {"error": error}
            if refused.details:
                answer["response_metadata"] = {"messages": list(refused.details)}
        self._keep(method, values, error)
        if error is None and method == "chat.postMessage" and self.onlooker is not None:
            await self.onlooker.posted(_post(self.workspace, answer))
        passing = error in _AGAIN or (fault is not None and fault.drop is not None)
        if passing and self.onlooker is not None:
            self.onlooker.failed_request()
        if fault is not None and fault.drop is not None:
            cut(send)
            await receive()
            return
        await _answer(send, {"ok": error is None, **answer}, fault)

    def _authenticate(self, header: str, values: MutableMapping[str, Any]) -> None:
        token = header.removeprefix("Bearer ").strip() or values.get("token")
        values.pop("token", None)
        if not token:
            raise Refused("not_authed")
        if token != self.bot_token:
            raise Refused("invalid_auth")

    def _keep(self, method: str, values: Mapping[str, Any], error: str | None) -> None:
        channel = values.get("channel") or values.get("channel_id")
        ts = values.get("thread_ts") or values.get("timestamp") or values.get("ts")
        thread = None
        if isinstance(channel, str) and isinstance(ts, str):
            message = self.workspace.messages.get((channel, ts))
            thread = SlackThread(channel, ts) if message is None else message.thread
        self.calls.append(SlackCall(method, dict(values), error, thread))


def _fail(fault: Fault | None) -> None:
    if fault is not None and fault.drop == "before":
        raise Refused("connection_lost")
    if fault is not None and fault.error:
        raise Refused(fault.error)


def _post(workspace: Workspace, answer: Mapping[str, Any]) -> SlackPost:
    message = workspace.messages[answer["channel"], answer["ts"]]
    return SlackPost(message.thread, message.ts, message.text, None)


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _answer(send: Send, answer: Mapping[str, Any], fault: Fault | None) -> None:
    body = json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if fault is not None and fault.retry_after is not None:
        headers.append((b"retry-after", str(fault.retry_after).encode()))
    status = _STATUS.get(str(answer.get("error", "")), 200)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
