"""Passing one request on: the agent sees the answer as it arrives, the gateway keeps what may be kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from seatrial.gateway.events import DONE, EventDecoder
from seatrial.gateway.exchange import Aborted, Answer, Outcome, Stream
from seatrial.gateway.key import parse_json
from seatrial.gateway.outcome import RECORDABLE_STATUSES, not_recordable, stream_error
from seatrial.gateway.redact import kept_headers
from seatrial.gateway.upstream import Upstream, UpstreamAnswer, UpstreamTrouble
from seatrial.gateway.wire import JSON_TYPE, STREAM_TYPE, Responder, client_gone, media_type
from seatrial.serving import Receive

# An answer that is not recorded goes to the agent as it is, with what tells its client when to try again.
_PASSED_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")


class Relay:
    """One request on its way. Afterwards either `outcome` is set, or `trouble` says why there is none.

    `complete` hears of a complete answer before the client has the end of it, and may hold it; it is the answer from
    then on: a client that leaves while it is held was answered, as in a replay. With `whole`, the client gets nothing
    of a stream before that.
    """

    def __init__(
        self,
        upstream: Upstream,
        responder: Responder,
        *,
        complete: Callable[[Outcome], Awaitable[None]],
        whole: bool = False,
    ) -> None:
        self.outcome: Outcome | None = None
        self.trouble: str | None = None
        self._upstream = upstream
        self._responder = responder
        self._complete = complete
        self._at_once = not whole
        self._left = False

    async def run(self, method: str, path: str, body: bytes, *, role: str, receive: Receive) -> None:
        """Ask, pass on, and hang up on the upstream as soon as the client is gone."""
        watching = asyncio.create_task(self._watch(receive))
        passing = asyncio.create_task(self._pass(method, path, body, role))
        try:
            await asyncio.wait({watching, passing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            watching.cancel()
            passing.cancel()
            await asyncio.wait({watching, passing})
        if not passing.cancelled():
            passing.result()
        if self.outcome is None and self.trouble is None:
            self.outcome = Aborted()

    async def _watch(self, receive: Receive) -> None:
        await client_gone(receive)
        self._left = True

    async def _pass(self, method: str, path: str, body: bytes, role: str) -> None:
        started = False
        try:
            async with self._upstream.ask(method, path, body, role=role) as answer:
                if answer.status == 200 and media_type(answer.headers.get("content-type", "")) == STREAM_TYPE:
                    started = self._at_once
                    await self._stream(answer)
                else:
                    await self._whole(answer)
        except UpstreamTrouble as error:
            self.trouble = str(error)
            if not started:
                await self._responder.refuse(error.status, "upstream", f"No answer to pass on: {error}.")

    async def _whole(self, answer: UpstreamAnswer) -> None:
        body = b"".join([chunk async for chunk in answer.body])
        content_type = answer.headers.get("content-type", "")
        try:
            if answer.status not in RECORDABLE_STATUSES:
                raise _NotRecorded(f"the upstream answered {answer.status}")
            if media_type(content_type) != JSON_TYPE:
                raise _NotRecorded(f"the upstream answered with the unknown content type '{content_type}'")
            try:
                value = parse_json(body)
            except ValueError as error:
                raise _NotRecorded(f"the upstream's answer cannot be read: {error}") from error
            if why := not_recordable(value):
                raise _NotRecorded(why)
        except _NotRecorded as error:
            self.trouble = str(error)
            passed = {name: answer.headers[name] for name in _PASSED_HEADERS if name in answer.headers}
            await self._responder.whole(answer.status, passed, body)
            return
        headers = kept_headers(answer.headers)
        if not self._left:
            self.outcome = Answer(status=answer.status, headers=headers, body=value)
            await self._complete(self.outcome)
            await self._responder.json(answer.status, headers, value)

    async def _stream(self, answer: UpstreamAnswer) -> None:
        headers = kept_headers(answer.headers)
        decoder = EventDecoder()
        events: list[str] = []
        if self._at_once:
            await self._responder.start_stream(answer.status, headers)
        try:
            async for chunk in answer.body:
                if await self._events(decoder.feed(chunk), events):
                    break
            else:
                await self._events(decoder.finish(), events)
        except UnicodeDecodeError:
            self._notice("the stream is not UTF-8")
        else:
            if not events or events[-1] != DONE:
                self._notice("the upstream cut the stream: it ended without [DONE]")
            elif decoder.foreign:
                self._notice(f"the stream uses the event field '{decoder.foreign[0]}', which a recording cannot hold")
        # Decided before the client is told of the end: it may hang up the moment it reads [DONE].
        if self.trouble is None and not self._left:
            self.outcome = Stream(status=answer.status, headers=headers, events=tuple(events))
            await self._complete(self.outcome)
        if not self._at_once:
            await self._responder.start_stream(answer.status, headers)
            for event in events:
                if event != DONE:
                    await self._responder.event(event)
        if events and events[-1] == DONE:
            await self._responder.event(DONE)
            await self._responder.end_stream()

    async def _events(self, new: tuple[str, ...], events: list[str]) -> bool:
        """Keep events and pass them on, all but [DONE]; True when that has come."""
        for event in new:
            events.append(event)
            if event == DONE:
                return True
            try:
                value: object = json.loads(event)
            except ValueError:
                self._notice(f"event {len(events)} of the stream is not JSON")
            else:
                if why := stream_error(value) or not_recordable(value):
                    self._notice(why)
            if self._at_once:
                await self._responder.event(event)
        return False

    def _notice(self, why: str) -> None:
        if self.trouble is None:
            self.trouble = why


class _NotRecorded(Exception):
    """Why an answer goes to the agent but not into the recording."""
