"""The gateway itself: an ASGI app that answers model requests from a recording, or asks the upstream and remembers.

Without an upstream it is strict: what has no recording is a miss, the first miss latches, and nothing after it is
served. Bookkeeping happens between two awaits, so that concurrent requests cannot share an answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import cast, get_args

from seatrial.gateway.exchange import Aborted, Answer, Exchange, Outcome, Request, Role, Stream
from seatrial.gateway.faults import ModelFault, ModelFaults, give_fault
from seatrial.gateway.key import JSON, parse_json, request_key
from seatrial.gateway.lost_answers import LostAnswers
from seatrial.gateway.miss import Miss, find_miss
from seatrial.gateway.record import RecordRefused, make_recording
from seatrial.gateway.recording import Recording
from seatrial.gateway.relay import Relay
from seatrial.gateway.replay import Shelf, replay
from seatrial.gateway.seen import Entry, SeenRequest
from seatrial.gateway.tool_calls import calls_of
from seatrial.gateway.upstream import Upstream
from seatrial.gateway.watcher import Nobody, NotReleased, Watcher
from seatrial.gateway.wire import JSON_TYPE, ClientGone, Responder, TooLarge, header, media_type, read_body
from seatrial.headers import HeaderNames
from seatrial.serving import Receive, Scope, Send

__all__ = ["Gateway", "RecordRefused", "SeenRequest"]

_MODEL_PATHS = ("/v1/chat/completions", "/v1/embeddings")
_ROLES = get_args(Role)
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class Gateway:
    """One trial's model traffic. `model_names` maps the agent's aliases to the upstream's names; empty maps nothing."""

    def __init__(
        self,
        *,
        header_names: HeaderNames,
        recording: Recording | None,
        upstream: Upstream | None = None,
        model_names: Mapping[str, str] = _NO_NAMES,
    ) -> None:
        self.miss: Miss | None = None
        self.in_flight = 0
        self.watcher: Watcher = Nobody()
        self.faults = ModelFaults()
        self._held: list[Entry] = []
        self._header_names = header_names
        self._recording = recording
        self._upstream = upstream
        self._model_names = dict(model_names)
        self._shelf = Shelf(recording)
        self._lost = LostAnswers()
        self._entries: list[Entry] = []
        self._committed = 0
        self._problems: list[str] = []
        self._conversations: dict[str, int] = {}
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def problems(self) -> tuple[str, ...]:
        """Why this trial is broken, whatever the agent made of it; empty when it is not."""
        return tuple(self._problems)

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """The requests that were served, in the order in which they were complete."""
        return tuple(entry.seen() for entry in self._entries)

    @property
    def served(self) -> int:
        """How many requests were served."""
        return len(self._entries)

    def held(self) -> tuple[str, ...]:
        """Name the requests that are held because their client left when they were recorded, and has not yet."""
        return tuple(
            f"a model request (role {entry.role}, conversation {entry.conversation}) that the recording says the agent "
            "aborted, and that it did not abort now"
            for entry in self._held
        )

    def unused(self) -> tuple[Exchange, ...]:
        """The recorded exchanges that no request has used."""
        return self._shelf.unused()

    def register_conversation(self, conversation_id: str) -> int:
        """The ordinal of a conversation in this trial, from 1; an id that is new gets the next one."""
        return self._conversations.setdefault(conversation_id, len(self._conversations) + 1)

    async def settle(self) -> None:
        """Wait until no request is in flight. An agent may have its answer a moment before the books are closed."""
        await self._settled.wait()

    def agent_idle(self) -> None:
        """Hear that the agent is idle: no restart can lose what it was answered so far."""
        self._committed = len(self._entries)
        self._lost.forget()

    def agent_restarted(self) -> None:
        """Hear that the agent was killed and is started again: it may have lost what it was answered since it was idle.

        Each of these answers is given once more, to the same request, by the rule of `LostAnswers`. That uses no
        recorded answer up and, in a run that records, asks no upstream; it makes no line of a recording. A request that
        the agent did not live to see answered has no words that could be given again: it is asked anew.

        Raises RuntimeError while a request is in flight: whose it is would not be known. `settle` waits for it.
        """
        if self.in_flight:
            raise RuntimeError(f"the agent is started again while {self.in_flight} of its requests are in flight")
        self._lost.restart(self._entries[self._committed :])

    def recording_made(self, *, recorded_at: str, trial: int, contracts: Mapping[str, int]) -> Recording:
        """The recording of this trial. Requests that `problems` speaks of are not in it.

        To be made while the gateway is still served: when a server stops, its clients seem to leave.

        Raises RecordRefused in replay mode, while a request is being answered, and when nothing was answered.
        """
        if self._upstream is None:
            raise RecordRefused("Nothing can be recorded: this gateway replays and has no upstream.")
        if self.in_flight:
            raise RecordRefused(f"Nothing can be recorded yet: requests being answered: {self.in_flight}.")
        return make_recording(
            self._entries, upstream=self._upstream, older=self._recording, recorded_at=recorded_at, trial=trial,
            contracts=contracts,
        )  # fmt: skip

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI app; it has no lifespan."""
        if scope["type"] != "http":
            raise ValueError(f"The gateway serves HTTP, not '{scope['type']}'.")
        self.in_flight += 1
        self._settled.clear()
        try:
            await self._answer(scope, receive, Responder(send))
        except _Refused as refused:
            self._problems.append(refused.problem)
            await Responder(send).refuse(refused.status, "broken", refused.problem)
        except NotReleased as error:
            await Responder(send).refuse(400, "not_released", str(error))
        except ClientGone:
            pass  # it never asked
        finally:
            self.in_flight -= 1
            if not self.in_flight:
                self._settled.set()

    async def _answer(self, scope: Scope, receive: Receive, responder: Responder) -> None:
        method, path = str(scope["method"]), _path(scope)
        if (method, path) == ("GET", "/v1/models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": ""} for name in self._model_names]
            await responder.json(200, {}, {"object": "list", "data": models})
            return
        if method != "POST" or path not in _MODEL_PATHS:
            raise _Refused(404, f"The gateway does not know '{method} {path}'.")
        role = self._role(scope, f"{method} {path}")
        conversation_id = header(scope, self._header_names.conversation)
        asked = f"A request of the {role} ({method} {path})"
        if not conversation_id:
            raise _Refused(400, f"{asked} has no header '{self._header_names.conversation}'.")
        body = await self._body(scope, receive, asked)
        # From here to the entry nothing awaits.
        if self.miss is None:
            try:
                value = parse_json(body)
            except ValueError as error:
                raise _Refused(400, f"{asked} has a body that cannot be read: {error}.") from error
            sent = self._for_upstream(role, value, body)
            request = Request(method=method, path=path, body=value)
            if (fault := self.faults.next(role)) is not None:
                await self._fail(fault, role, conversation_id, request, receive, responder)
                return
            entry = self._entry(role, conversation_id, request, body)
            if entry is not None:
                await self._serve(entry, sent, receive, responder)
                return
        assert self.miss is not None
        await responder.refuse(400, "unrecorded", self.miss.explain())

    def _role(self, scope: Scope, asked: str) -> Role:
        role = header(scope, self._header_names.role)
        if not role:
            raise _Refused(400, f"A request ({asked}) has no header '{self._header_names.role}'.")
        if role not in _ROLES:
            raise _Refused(400, f"A request ({asked}) has the unknown role '{role}'. Roles: {', '.join(_ROLES)}.")
        return cast(Role, role)

    async def _body(self, scope: Scope, receive: Receive, asked: str) -> bytes:
        content_type = header(scope, "content-type")
        if media_type(content_type) != JSON_TYPE:
            raise _Refused(400, f"{asked} has the unknown content type '{content_type}'.")
        encoding = header(scope, "content-encoding")
        if encoding not in ("", "identity"):
            raise _Refused(400, f"{asked} has a body in the encoding '{encoding}', which is not read.")
        try:
            return await read_body(receive)
        except TooLarge as error:
            raise _Refused(413, f"{asked} has a body that is too large.") from error

    def _entry(self, role: Role, conversation_id: str, request: Request, body: bytes) -> Entry | None:
        """Book the request; None, and the miss is set, when nothing can answer it."""
        conversation = self.register_conversation(conversation_id)
        key = self._key(role, conversation, request)
        if (lost := self._lost.take(key)) is not None:
            entry = replace(lost, body=body, again=True)
            self._entries.append(entry)
            return entry
        occurrence, recorded = self._shelf.take(key)
        if recorded is None and self._upstream is None:
            self.miss = find_miss(
                role=role, conversation=conversation, occurrence=occurrence, key=key, request=request,
                recorded=self._shelf.exchanges,
            )  # fmt: skip
            return None
        entry = Entry(role, conversation, key, occurrence, body, request, recorded)
        self._entries.append(entry)
        return entry

    async def _fail(
        self,
        fault: ModelFault,
        role: Role,
        conversation_id: str,
        request: Request,
        receive: Receive,
        responder: Responder,
    ) -> None:
        """Let a request fail. It is booked nowhere and uses no recorded answer up."""
        key = self._key(role, self.register_conversation(conversation_id), request)
        recorded = self._shelf.next(key)
        await self.watcher.asked(role)
        if not fault.time_out:
            self.watcher.failed_request()
        outcome = None if recorded is None else recorded.outcome
        events = outcome.events if isinstance(outcome, Stream) else ()
        await give_fault(fault, events, receive=receive, responder=responder, kept_waiting=self.watcher.kept_waiting)

    @staticmethod
    def _key(role: Role, conversation: int, request: Request) -> str:
        return request_key(
            method=request.method, path=request.path, role=role, conversation=conversation, body=request.body
        )

    async def _serve(self, entry: Entry, sent: bytes, receive: Receive, responder: Responder) -> None:
        await self.watcher.asked(entry.role)
        recorded = entry.given
        if recorded is None or (isinstance(recorded, Aborted) and self._upstream is not None):
            await self._relay(entry, sent, receive, responder)
            return
        await self._complete(entry.role, recorded)
        self._held += [entry] if isinstance(recorded, Aborted) else []
        try:
            await replay(recorded, receive, responder)
        finally:
            self._held = [other for other in self._held if other is not entry]

    async def _relay(self, entry: Entry, sent: bytes, receive: Receive, responder: Responder) -> None:
        """Ask the upstream. What was recorded as aborted is asked too: whether it still is, only asking can tell."""
        assert self._upstream is not None
        relay = Relay(
            self._upstream, responder, complete=partial(self._complete, entry.role),
            whole=self.watcher.holds(entry.role),
        )  # fmt: skip
        await relay.run(entry.request.method, entry.request.path, sent, role=entry.role, receive=receive)
        if entry.recorded is None or not isinstance(relay.outcome, Aborted):
            entry.recorded, entry.outcome = None, relay.outcome
        if relay.trouble is not None:
            self._problems.append(
                f"Request {self._entries.index(entry) + 1} ({entry.role} of conversation {entry.conversation}) was not "
                f"recorded: {relay.trouble}."
            )

    async def _complete(self, role: Role, outcome: Outcome) -> None:
        """Let whoever looks on hear of an answer before the agent has it."""
        if isinstance(outcome, Answer) and outcome.status >= 400:
            self.watcher.failed_request()
        if self.watcher.holds(role) and (calls := calls_of(outcome)):
            await self.watcher.called(role, calls)

    def _for_upstream(self, role: Role, value: JSON, body: bytes) -> bytes:
        """The body with the upstream's name for the model."""
        alias = value.get("model") if isinstance(value, dict) else None
        if self._upstream is None or not self._model_names or not isinstance(value, dict):
            return body
        if not isinstance(alias, str) or alias not in self._model_names:
            raise _Refused(400, f"The {role} asked for the model '{alias}', which has no name at the upstream.")
        return json.dumps({**value, "model": self._model_names[alias]}, ensure_ascii=False).encode("utf-8")


class _Refused(Exception):
    def __init__(self, status: int, problem: str) -> None:
        self.status, self.problem = status, problem
        super().__init__(problem)


def _path(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])
