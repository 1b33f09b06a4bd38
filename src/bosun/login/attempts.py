"""Logins that have begun: each is known by its state, belongs to one browser, and is used once."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Awaitable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final, cast

from redis.asyncio import Redis

from bosun.clock import Clock

ATTEMPT_AGE: Final = timedelta(minutes=10)
ATTEMPTS: Final = "bosun:login:attempts"
BY_END: Final = "bosun:login:attempts:by_end"


@dataclass(frozen=True)
class Attempt:
    """What was said when the browser was sent to the issuer."""

    nonce: str
    verifier: str
    """The secret of PKCE (RFC 7636)."""
    next: str
    browser_sha256: str


class Attempts:
    """Keeps attempts. When they end is the app's clock's; what has ended is cleared away by the next that begins."""

    def __init__(self, redis: Redis, *, clock: Clock) -> None:
        self._redis = redis
        self._clock = clock

    async def begin(self, state: str, attempt: Attempt) -> None:
        """Keep an attempt."""
        now = self._clock.now()
        over = await self._redis.zrangebyscore(BY_END, "-inf", now.timestamp())
        async with self._redis.pipeline(transaction=True) as pipeline:
            if over:
                pipeline.hdel(ATTEMPTS, *over)
                pipeline.zrem(BY_END, *over)
            pipeline.hset(ATTEMPTS, state, json.dumps(asdict(attempt)))
            pipeline.zadd(BY_END, {state: (now + ATTEMPT_AGE).timestamp()})
            await pipeline.execute()

    async def take(self, state: str, browser: str) -> Attempt | None:
        """Return the attempt of this state and use it up; None when there is none, or it is another browser's.

        Another browser's attempt stays: whoever guesses a state ends nobody's login.
        """
        text = await cast("Awaitable[Any]", self._redis.hget(ATTEMPTS, state))
        end = await self._redis.zscore(BY_END, state)
        if text is None or end is None or end <= self._clock.now().timestamp():
            return None
        attempt = Attempt(**json.loads(text))
        if not hmac.compare_digest(attempt.browser_sha256, digest(browser)):
            return None
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.hdel(ATTEMPTS, state)
            pipeline.zrem(BY_END, state)
            taken = await pipeline.execute()
        return attempt if taken[0] == 1 else None  # of two at once, one has it


def digest(secret: str) -> str:
    """Return what is kept of a browser's secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
