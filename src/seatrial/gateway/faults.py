"""Failures that a test orders: the next requests to the model fail as a provider fails that has a bad day.

Source of the errors: https://platform.openai.com/docs/guides/error-codes; `content_filter` is what compatible services
answer when a filter refuses a prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from seatrial.gateway.exchange import Role
from seatrial.gateway.wire import Responder, client_gone
from seatrial.serving import Receive

Rejection: TypeAlias = Literal[
    "auth",
    "permission",
    "rate_limit",
    "quota",
    "capacity",
    "timeout",
    "network",
    "server",
    "invalid_request",
    "invalid_response",
    "content_policy",
]
KeptWaiting: TypeAlias = Callable[[asyncio.Future[None]], Awaitable[None]]
REJECTIONS: Final[tuple[Rejection, ...]] = get_args(Rejection)


@dataclass(frozen=True, kw_only=True)
class ModelFault:
    """How the next requests of a role fail. Exactly one of the first three is given.

    ``reject``: with a provider's error of this kind (``network``: the connection is cut before any answer;
    ``invalid_response``: a stream that holds no JSON). ``time_out``: nothing is answered until the client leaves, and
    time passes for it. ``cut_after``: the stream is cut after so many events of the recorded answer, at the latest
    before its end, and the answer stays there for the next request; in a run that records nothing of it is there yet,
    and the stream is cut at its beginning. ``retry_after`` are the seconds that the answer asks to wait for.
    """

    reject: Rejection | None = None
    time_out: bool = False
    cut_after: int | None = None
    role: Role = "agent"
    times: int = 1
    retry_after: int | None = None

    def __str__(self) -> str:
        if self.time_out:
            return f"a request of the {self.role} that is not answered in time"
        if self.cut_after is not None:
            return f"a stream to the {self.role} that is cut after {self.cut_after} events"
        return f"a request of the {self.role} that is refused ({self.reject})"


class ModelFaults:
    """The faults that were ordered and have not come to pass, in order."""

    def __init__(self) -> None:
        self._ordered: list[ModelFault] = []

    def order(self, fault: ModelFault) -> None:
        """Let the next requests of a role fail. Raises ValueError for what no provider would do."""
        given = (fault.reject is not None, fault.time_out, fault.cut_after is not None)
        if sum(given) != 1:
            raise ValueError("a fault of the model is one of: a rejection, a time-out, a stream that is cut")
        if fault.reject is not None and fault.reject not in REJECTIONS:
            raise ValueError(f"no provider refuses with '{fault.reject}'; there are: {', '.join(REJECTIONS)}")
        if fault.role not in get_args(Role) or fault.role == "web":
            raise ValueError(f"no part of an agent asks the model in the role '{fault.role}'")
        if fault.times < 1:
            raise ValueError(f"a fault that happens {fault.times} times is none")
        if fault.cut_after is not None and fault.cut_after < 0:
            raise ValueError(f"a stream cannot be cut after {fault.cut_after} events")
        if fault.retry_after is not None and (fault.retry_after < 0 or fault.reject not in _HASTE):
            raise ValueError(f"a provider asks to wait for seconds, and with {' or '.join(_HASTE)} only")
        self._ordered.append(fault)

    def next(self, role: Role) -> ModelFault | None:
        """Return the fault of this request and use it up."""
        for position, fault in enumerate(self._ordered):
            if fault.role == role:
                left = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                self._ordered[position : position + 1] = left
                return fault
        return None

    def unused(self) -> tuple[ModelFault, ...]:
        """Return the faults that never came to pass."""
        return tuple(self._ordered)


async def give_fault(
    fault: ModelFault, events: Sequence[str], *, receive: Receive, responder: Responder, kept_waiting: KeptWaiting
) -> None:
    """Let one request fail. `events` are those of the recorded answer, `kept_waiting` lets time pass for the client."""
    if fault.time_out:
        gone = asyncio.ensure_future(client_gone(receive))
        try:
            await kept_waiting(gone)
        finally:
            gone.cancel()
        return
    if fault.cut_after is not None:
        await responder.start_stream(200, {})
        for event in events[:-1][: fault.cut_after]:  # with its last event it would be whole
            await responder.event(event)
    if fault.cut_after is not None or fault.reject == "network":
        responder.cut()
        await client_gone(receive)
    elif fault.reject == "invalid_response":
        await responder.start_stream(200, {})
        await responder.event("<html>")
        await responder.end_stream()
    elif fault.reject is not None:
        said = _ERRORS[fault.reject]
        headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
        error = {"message": said.message, "type": said.type, "param": None, "code": said.code}
        await responder.json(said.status, headers, {"error": error})


@dataclass(frozen=True)
class _Error:
    status: int
    type: str
    code: str | None
    message: str = field(default="The provider says why in words that are not for people.")


_ERRORS: Final[Mapping[str, _Error]] = {
    "auth": _Error(401, "invalid_request_error", "invalid_api_key"),
    "permission": _Error(403, "request_forbidden", "unsupported_country_region_territory"),
    "rate_limit": _Error(429, "requests", "rate_limit_exceeded"),
    "quota": _Error(429, "insufficient_quota", "insufficient_quota"),
    "capacity": _Error(503, "server_error", None),
    "timeout": _Error(408, "server_error", None),
    "server": _Error(500, "server_error", None),
    "invalid_request": _Error(400, "invalid_request_error", None),
    "content_policy": _Error(400, "invalid_request_error", "content_filter"),
}
_HASTE: Final = ("rate_limit", "capacity", "server")
