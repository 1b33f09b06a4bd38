"""Calls of Slack's Web API, by its own client, in threads.

A call is made once. Whoever makes it decides about a second time, and has to know whether the first may have counted.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any, Final, Literal, TypeAlias

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse, WebClient

from bosun.slack.options import SlackOptions
from bosun.timer import Timer

CALL_SECONDS: Final = 10
"""How long a silent connection is waited for. Shorter than a lease: its loser may not post when its heir does."""
BRIEF_SECONDS: Final = 2
"""The same, for what is only nice to have."""
THREADS: Final = 8
TRIES: Final = 5
"""How often the same call is made before it is given up."""
BACKOFF_SECONDS: Final = 1.0
"""The first wait after a failure that may pass; each further one is twice as long."""
LONGEST_WAIT_SECONDS: Final = 300.0
"""When Slack asks for a longer wait, the call is given up."""

Ask: TypeAlias = Callable[[WebClient], SlackResponse]
"""One call of one method."""
Trouble: TypeAlias = Literal["permission", "invalid_request", "rate_limit", "network", "server"]

_PASSING: Final = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})
_LIMITS: Final = frozenset({"ratelimited", "rate_limited"})
_WORDS: Final = frozenset({"no_text", "msg_too_long", "too_many_attachments", "metadata_too_large"})
_MAY_NOT: Final = frozenset({"invalid_auth", "invalid_channel"})
_ERROR: Final = re.compile(r"[a-z0-9_]+")


class SlackFailure(Exception):
    """A call failed. `error` is Slack's word for it, where Slack answered."""

    def __init__(self, kind: Trouble, error: str, retry_after: float | None = None) -> None:
        super().__init__(f"{kind}: {error}")
        self.kind: Trouble = kind
        self.error = error
        self.retry_after = retry_after

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in ("rate_limit", "network", "server")

    @property
    def may_have_counted(self) -> bool:
        """Whether the call may have had its effect all the same. Slack says so of its internal errors too."""
        return self.kind in ("network", "server")

    def wait(self, tries: int) -> float | None:
        """Return the seconds to wait after so many tries, or None when there is no point in another one."""
        wait = self.retry_after if self.retry_after is not None else BACKOFF_SECONDS * 2 ** (tries - 1)
        return wait if self.may_pass and tries < TRIES and wait <= LONGEST_WAIT_SECONDS else None


class SlackClient:
    """Calls Slack for one app. `close` it."""

    def __init__(self, options: SlackOptions, *, timer: Timer, seconds: int = CALL_SECONDS) -> None:
        self._timer = timer
        self._web = WebClient(
            options.bot_token,
            base_url=options.base_url,
            timeout=seconds,
            retry_handlers=[],
        )
        # urllib reads the environment's proxies itself, and heeds NO_PROXY, which the client's own reading does not.
        self._web.proxy = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="bosun-slack")

    async def call(self, ask: Ask) -> Mapping[str, Any]:
        """Make one call and return the answer's fields. Raises `SlackFailure`.

        A thread cannot be cancelled: a cancelled call has ended, one way or the other, when this raises. Otherwise it
        could take effect after somebody else has looked whether it did.
        """
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._made, ask)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await _ended(work)
            raise

    async def insist(self, ask: Ask, *, may_count_twice: bool = True) -> Mapping[str, Any]:
        """Make a call until it succeeds, a bounded number of times. Raises `SlackFailure`."""
        tries = 0
        while True:
            try:
                return await self.call(ask)
            except SlackFailure as failure:
                tries += 1
                wait = failure.wait(tries)
                if wait is None or (failure.may_have_counted and not may_count_twice):
                    raise
            await self._timer.sleep(wait)

    def close(self) -> None:
        """Take no more calls."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _made(self, ask: Ask) -> Mapping[str, Any]:
        try:
            data = ask(self._web).data
        except SlackApiError as error:
            raise _failure(error.response) from error
        except (OSError, HTTPException, SlackClientError) as error:
            raise SlackFailure("network", f"{type(error).__name__}: {error}") from error
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # the client does not check its answers
            raise SlackFailure("server", f"the answer cannot be read: {type(error).__name__}") from error
        if not isinstance(data, dict):
            raise SlackFailure("server", "the answer is no object")
        return data


def _failure(response: SlackResponse) -> SlackFailure:
    data = response.data if isinstance(response.data, dict) else {}
    said = data.get("error")
    # What is no word of Slack's did not come from Slack, or not from the method that was called.
    error = said if isinstance(said, str) and _ERROR.fullmatch(said) else None
    if response.status_code == 429 or error in _LIMITS:
        return SlackFailure("rate_limit", error or "status 429", _retry_after(response.headers))
    if response.status_code >= 500 or error is None or error in _PASSING:
        return SlackFailure("server", error or f"status {response.status_code}")
    if error in _WORDS or (error.startswith("invalid_") and error not in _MAY_NOT):
        return SlackFailure("invalid_request", error)
    return SlackFailure("permission", error)


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    for name, value in headers.items():
        if name.lower() == "retry-after":
            text = str(value[0] if isinstance(value, list) and value else value)
            return float(text) if text.isascii() and text.isdigit() else None
    return None


async def _ended(work: asyncio.Future[Any]) -> None:
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:  # the first one is raised when the work has ended
            continue
    if not work.cancelled():
        work.exception()
