"""The production queue: a Redis Stream with a consumer group, and a sorted set of nudges that are due later.

At least once: a delivery that was never `done` is claimed by another consumer when it has lain for
`CLAIM_AFTER_MS`. The ids of the stream (`XADD *`) only name deliveries. What is due is decided by the app's
clock; Redis' own time only bounds how long one read waits and how long a lost delivery lies.
"""

from __future__ import annotations

import json
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bosun.clock import Clock
from bosun.mailbox.queue import Delivery, Nudge
from bosun.stores.redis import KEY_PREFIX
from bosun.timer import heed_cancellation

STREAM: Final = f"{KEY_PREFIX}queue"
DELAYED: Final = f"{KEY_PREFIX}queue:delayed"
GROUP: Final = "workers"
LONGEST_READ_MS: Final = 1000
"""A read looks again for nudges that have become due at least this often."""
CLAIM_AFTER_MS: Final = 120_000

_PROMOTE: Final = """
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])) do
  redis.call('ZREM', KEYS[1], member)
  redis.call('XADD', KEYS[2], '*', 'nudge', member)
end
local next_due = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return next_due[2]
"""
_DONE: Final = """
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
"""


class RedisStreamQueue:
    """Nudges over Redis. `consumer` names this process among the group's; unique for each."""

    def __init__(self, redis: Redis, *, clock: Clock, consumer: str) -> None:
        self._redis = redis
        self._clock = clock
        self._consumer = consumer
        self._promote = redis.register_script(_PROMOTE)
        self._done = redis.register_script(_DONE)

    async def send(self, nudge: Nudge, *, delay: float = 0.0) -> None:
        """Append the nudge to the stream, or note when it is due.

        Two equal nudges that wait are one, due at the later time.
        """
        member = json.dumps([nudge.conversation_id, nudge.reason])
        if delay <= 0:
            await self._redis.xadd(STREAM, {"nudge": member})
        else:
            await self._redis.zadd(DELAYED, {member: self._now() + delay})

    async def receive(self) -> Delivery:
        """Wait for a nudge. A connection that breaks raises the client's `ConnectionError`."""
        while True:
            heed_cancellation()
            next_due = await self._promote(keys=[DELAYED, STREAM], args=[repr(self._now())])
            entry = await self._read(self._patience(next_due)) or await self._claim()
            if entry is not None:
                token, fields = entry
                conversation_id, reason = json.loads(fields["nudge"])
                return Delivery(Nudge(conversation_id, reason), token)

    async def done(self, delivery: Delivery) -> None:
        """Acknowledge and delete the entry."""
        await self._done(keys=[STREAM], args=[GROUP, delivery.token])

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _patience(self, next_due: str | None) -> int:
        if next_due is None:
            return LONGEST_READ_MS
        return max(1, min(LONGEST_READ_MS, int((float(next_due) - self._now()) * 1000)))

    async def _read(self, patience_ms: int) -> tuple[str, dict[str, str]] | None:
        try:
            found: Any = await self._redis.xreadgroup(GROUP, self._consumer, {STREAM: ">"}, count=1, block=patience_ms)
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            await self._make_group()
            return None
        if not found:
            return None
        streams = found.values() if isinstance(found, dict) else [entries for _, entries in found]
        for entries in streams:
            for token, fields in entries:
                return token, fields
        return None

    async def _claim(self) -> tuple[str, dict[str, str]] | None:
        found: Any = await self._redis.xautoclaim(STREAM, GROUP, self._consumer, min_idle_time=CLAIM_AFTER_MS, count=1)
        for token, fields in found[1]:
            return token, fields
        return None

    async def _make_group(self) -> None:
        try:
            await self._redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):  # another process was first
                raise
