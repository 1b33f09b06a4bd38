"""The mailbox of each conversation, in Redis: append and deduplicate, lease, consume, dead-letter.

What is appended stays until a turn has really taken it in (or it was tried too often, and is then a visible
dead letter).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from redis.asyncio import Redis
from redis.commands.core import AsyncScript

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.log.messages import InboundMessage
from bosun.mailbox import scripts
from bosun.mailbox.state import Busy, Empty, Lease, LeaseState, MailboxState, Taken, TakeResult
from bosun.steps import Step, StepSink
from bosun.stores.redis import KEY_PREFIX

LEASE_SECONDS: Final = 90.0
CHECK_IN_SECONDS: Final = 15.0
"""How often the holder of a lease says that it still works."""

INDEX: Final = f"{KEY_PREFIX}mailboxes"


class Mailbox:
    """All conversations' mailboxes. Every change is one atomic script."""

    def __init__(self, redis: Redis, *, clock: Clock, ids: IdSource, steps: StepSink, attempts: int) -> None:
        self._redis = redis
        self._clock = clock
        self._ids = ids
        self._steps = steps
        self._attempts = attempts
        self._append = redis.register_script(scripts.APPEND)
        self._take = redis.register_script(scripts.TAKE)
        self._check_in = redis.register_script(scripts.CHECK_IN)
        self._consume = redis.register_script(scripts.CONSUME)
        self._bury = redis.register_script(scripts.BURY)
        self._release = redis.register_script(scripts.RELEASE)

    async def append(self, conversation_id: str, message: InboundMessage) -> bool:
        """Append a message; return False when a message of this id was appended before."""
        new, _ = await self._run(self._append, conversation_id, message.id, message.model_dump_json())
        if new:
            self._steps.emit(Step("message.accepted", conversation_id, {"messageId": message.id}))
        return bool(new)

    async def take(self, conversation_id: str) -> TakeResult:
        """Lease the conversation for a fresh run, unless another worker holds it or nothing is pending.

        An expired lease is taken over; that counts as a failed attempt.
        """
        token = self._ids.nonce(conversation_id, "lease")
        run_id = self._ids.derive(conversation_id, "run", token)
        now = self._now()
        result = await self._run(self._take, conversation_id, token, run_id, repr(now), repr(now + LEASE_SECONDS))
        if result[0] == "busy":
            return Busy()
        if result[0] == "empty":
            return Empty()
        messages = [InboundMessage.model_validate_json(body) for body in result[2:]]
        batch = first_run(messages)
        return Taken(Lease(conversation_id, token, run_id), batch, exhausted=int(result[1]) >= self._attempts)

    async def check_in(self, lease: Lease) -> bool:
        """Prolong the lease; return False when it is somebody else's by now."""
        now = self._now()
        kept = await self._run(self._check_in, lease.conversation_id, lease.token, repr(now), repr(now + LEASE_SECONDS))
        return bool(kept)

    async def consume(self, lease: Lease, message_ids: Sequence[str]) -> None:
        """Forget messages that the log says are handled. Call it only after that commit."""
        await self._run(self._consume, lease.conversation_id, lease.token, *message_ids)

    async def bury(self, lease: Lease, message_ids: Sequence[str]) -> None:
        """Make dead letters of messages that were tried too often."""
        await self._run(self._bury, lease.conversation_id, lease.token, *message_ids)

    async def release(self, lease: Lease, *, failed: bool = False) -> int:
        """Give the lease back; a failed attempt is counted. Return how many messages are pending."""
        left = await self._run(self._release, lease.conversation_id, lease.token, "1" if failed else "0")
        return max(0, int(left))

    async def with_work(self) -> tuple[str, ...]:
        """Return the conversations that have pending messages or a lease, in a fixed order."""
        return tuple(sorted(str(each) for each in await self._redis.smembers(INDEX)))

    async def state(self, conversation_id: str) -> MailboxState:
        """Return the mailbox as it is now; one that was never written to is idle."""
        state_key, pending_key, messages_key, _, dead_key, _ = _keys(conversation_id)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(state_key)
            pipe.lrange(pending_key, 0, -1)
            pipe.lrange(dead_key, 0, -1)
            pipe.hgetall(messages_key)
            fields, pending, dead, bodies = await pipe.execute()
        lease = None
        if "lease_expires_at" in fields:
            lease = LeaseState(_instant(fields["lease_expires_at"]), _instant(fields["lease_checked_in_at"]))
        return MailboxState(
            status=fields.get("status", "idle"),
            pending=tuple(InboundMessage.model_validate_json(bodies[each]) for each in pending),
            dead_letters=tuple(InboundMessage.model_validate_json(bodies[each]) for each in dead),
            lease=lease,
            retries=int(fields.get("retries", "0")),
        )

    def _now(self) -> float:
        return self._clock.now().timestamp()

    async def _run(self, script: AsyncScript, conversation_id: str, *arguments: str) -> Any:
        return await script(keys=_keys(conversation_id), args=[conversation_id, *arguments])


def first_run(messages: Sequence[InboundMessage]) -> tuple[InboundMessage, ...]:
    """Return the longest beginning whose messages have the same actor and the same source."""
    run: list[InboundMessage] = []
    for message in messages:
        if run and (message.actor_id, message.source) != (run[0].actor_id, run[0].source):
            break
        run.append(message)
    return tuple(run)


def _keys(conversation_id: str) -> list[str]:
    own = f"{KEY_PREFIX}mailbox:{conversation_id}"
    return [own, f"{own}:pending", f"{own}:messages", f"{own}:seen", f"{own}:dead", INDEX]


def _instant(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
