"""Replay: which recorded exchange answers a request, and giving it."""

from __future__ import annotations

from collections import Counter

from seatrial.gateway.exchange import Answer, Exchange, Outcome, Stream
from seatrial.gateway.recording import Recording
from seatrial.gateway.wire import Responder, client_gone
from seatrial.serving import Receive


class Shelf:
    """The recorded exchanges. Each is given once: equal requests get their answers in the order of recording."""

    def __init__(self, recording: Recording | None) -> None:
        self.exchanges = recording.exchanges if recording is not None else ()
        self._by_occurrence = {(exchange.key, exchange.occurrence): exchange for exchange in self.exchanges}
        self._asked: Counter[str] = Counter()

    def take(self, key: str) -> tuple[int, Exchange | None]:
        """Which occurrence of this request this one is, and its exchange if there is one."""
        self._asked[key] += 1
        occurrence = self._asked[key]
        return occurrence, self._by_occurrence.get((key, occurrence))

    def next(self, key: str) -> Exchange | None:
        """The exchange that this request would get, which stays where it is."""
        return self._by_occurrence.get((key, self._asked[key] + 1))

    def unused(self) -> tuple[Exchange, ...]:
        """The exchanges that nobody asked for, in the order of recording."""
        return tuple(each for each in self.exchanges if each.occurrence > self._asked[each.key])


async def replay(outcome: Outcome, receive: Receive, responder: Responder) -> None:
    """Give a recorded outcome; a client that left when it was recorded is held until it leaves again.

    One that does not leave is held for ever: no words of a model are known that it could be given.
    """
    if isinstance(outcome, Answer):
        await responder.json(outcome.status, outcome.headers, outcome.body)
    elif isinstance(outcome, Stream):
        await responder.start_stream(outcome.status, outcome.headers)
        for event in outcome.events:
            await responder.event(event)
        await responder.end_stream()
    else:
        await client_gone(receive)
