"""The mailbox of each conversation, in Redis: append and deduplicate, lease, steer, stop, consume, dead-letter.

What is appended stays until a turn has really taken it in (or it was tried too often, and is then a visible
dead letter).

A stop is no flag: it takes the messages that it discards out of the line, and it is over when the log has them. So it
cannot outlive a crash and swallow what comes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast

from redis.asyncio import Redis
from redis.commands.core import AsyncScript

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.log.messages import InboundMessage
from bosun.mailbox import scripts
from bosun.mailbox.queue import NudgeReason
from bosun.mailbox.state import Busy, Empty, Lease, LeaseState, MailboxState, Revised, StopTaken, Taken, TakeResult
from bosun.mailbox.steering import LeaseLost
from bosun.steps import Step, StepSink
from bosun.stores.redis import KEY_PREFIX, require_writable
from bosun.timer import heed_cancellation

LEASE_SECONDS: Final = 90.0
CHECK_IN_SECONDS: Final = 15.0
"""How often the holder of a lease says that it still works."""

INDEX: Final = f"{KEY_PREFIX}mailboxes"
SUBSCRIPTIONS: Final = f"{KEY_PREFIX}subscriptions"


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
        self._read = redis.register_script(scripts.READ)
        self._stop = redis.register_script(scripts.STOP)
        self._stopped = redis.register_script(scripts.STOPPED)
        self._check_in = redis.register_script(scripts.CHECK_IN)
        self._consume = redis.register_script(scripts.CONSUME)
        self._bury = redis.register_script(scripts.BURY)
        self._release = redis.register_script(scripts.RELEASE)
        self._automated = redis.register_script(scripts.AUTOMATED)
        self._revise = redis.register_script(scripts.REVISE)

    async def append(self, conversation_id: str, message: InboundMessage, *, subscribe: bool = False) -> bool:
        """Append a message; return False when a message of this id was appended before.

        A new one may subscribe Bosun to the conversation: from then on, it listens to what is not said to it, too.
        """
        flags = ["1" if flag else "0" for flag in (message.interrupt, message.automated, subscribe)]
        new = await self._run(self._append, conversation_id, message.id, message.model_dump_json(), *flags)
        if new:
            self._steps.emit(Step("message.accepted", conversation_id, {"messageId": message.id}))
        return bool(new)

    async def take(self, conversation_id: str, reason: NudgeReason = "message") -> TakeResult:
        """Lease the conversation for a fresh run, unless another worker holds it or there is nothing to do.

        A paused conversation has nothing to do but interrupts, a stop, and what it was nudged to `resume`. An expired
        lease is taken over; that counts as a failed attempt.
        """
        token = self._ids.nonce(conversation_id, "lease")
        run_id = self._ids.derive(conversation_id, "run", token)
        now = self._now()
        times = (repr(now), repr(now + LEASE_SECONDS))
        kind, *found = await self._run(self._take, conversation_id, token, run_id, *times, reason)
        if kind == "busy":
            return Busy()
        if kind in ("empty", "held"):
            return Empty()
        lease = Lease(conversation_id, token, run_id)
        messages = [InboundMessage.model_validate_json(body) for body in found[1:]]
        exhausted = int(found[0]) >= self._attempts
        if kind == "stopped":
            return StopTaken(lease, tuple(messages), exhausted)
        return Taken(lease, first_run(messages), exhausted)

    async def read(self, lease: Lease) -> tuple[bool, tuple[tuple[bool, InboundMessage], ...]]:
        """Return whether the running turn is stopped, and what is pending.

        Each message comes with whether it arrived after the turn was begun. Raises `LeaseLost`.
        """
        kept, *found = await self._run(self._read, lease.conversation_id, lease.token)
        if kept != "kept":
            raise LeaseLost(lease.conversation_id)
        pairs = zip(found[1::2], found[2::2], strict=True)
        return found[0] == "1", tuple((new == "1", InboundMessage.model_validate_json(body)) for new, body in pairs)

    async def stop(self, conversation_id: str, asked_by: InboundMessage | None = None) -> int:
        """Discard all that is pending, the running turn's messages too, and listen no more.

        Return how many messages the log is yet to be told of; zero means that there was nothing to stop. The message
        that asked for it, if one did, is one of them. Minus one: it has asked before, and nothing is done.
        """
        asked = () if asked_by is None else (asked_by.id, asked_by.model_dump_json())
        left = int(await self._run(self._stop, conversation_id, *asked))
        if asked_by is not None and left >= 0:
            self._steps.emit(Step("message.accepted", conversation_id, {"messageId": asked_by.id}))
        return left

    async def is_subscribed(self, conversation_id: str) -> bool:
        """Tell whether Bosun listens to what is not said to it there."""
        return bool(await self._redis.sismember(SUBSCRIPTIONS, conversation_id))

    async def subscribe(self, conversation_id: str) -> None:
        """Listen to what is not said to it there, for who stores a conversation in which it was called before."""
        await self._redis.sadd(SUBSCRIPTIONS, conversation_id)

    async def unsubscribe(self, conversation_id: str) -> None:
        """Listen no more, until a message subscribes again."""
        await self._redis.srem(SUBSCRIPTIONS, conversation_id)

    async def revise(self, conversation_id: str, message_id: str, revision: int, text: str | None) -> Revised:
        """Give a pending message another text, or withdraw it (None), unless there was a newer change."""
        key = _keys(conversation_id)[2]
        while True:
            heed_cancellation()
            body = await self._redis.hget(key, message_id)
            if body is None:
                return "gone"
            message, was = InboundMessage.model_validate_json(body), str(body)
            if text is not None and message.revision >= revision:
                return "outdated"
            changed = message.model_copy(update={"text": text, "revision": revision})
            new = "" if text is None else changed.model_dump_json()
            found = str(await self._run(self._revise, conversation_id, message_id, was, new))
            if found != "other":
                return cast(Revised, found)

    async def stopped(self, conversation_id: str) -> tuple[InboundMessage, ...]:
        """Return the discarded messages of which the log is yet to be told."""
        found = await self._run(self._stopped, conversation_id)
        return tuple(InboundMessage.model_validate_json(body) for body in found)

    async def check_in(self, lease: Lease) -> bool:
        """Prolong the lease; return False when it is somebody else's by now."""
        now = self._now()
        kept = await self._run(self._check_in, lease.conversation_id, lease.token, repr(now), repr(now + LEASE_SECONDS))
        return bool(kept)

    async def consume(self, lease: Lease, message_ids: Sequence[str], *, ended: bool = True) -> None:
        """Forget messages that the log says are handled, or taken in by a turn that is still open (`ended=False`).

        Call it only after that commit.
        """
        await self._run(self._consume, lease.conversation_id, lease.token, "1" if ended else "0", *message_ids)

    async def bury(self, lease: Lease, message_ids: Sequence[str]) -> None:
        """Make dead letters of messages that were tried too often."""
        await self._run(self._bury, lease.conversation_id, lease.token, *message_ids)

    async def release(self, lease: Lease, outcome: Literal["done", "failed", "paused"] = "done") -> int:
        """Give the lease back; a failed attempt is counted, a pause is kept. Return how many messages wait."""
        return max(0, int(await self._run(self._release, lease.conversation_id, lease.token, outcome)))

    async def count_automated(self, conversation_id: str, message_id: str) -> int:
        """Count a turn that no person asked for, by its first message. Return how many there were in a row."""
        return int(await self._run(self._automated, conversation_id, message_id))

    async def require_writable(self) -> None:
        """Raise what the store raises when it cannot be written to, before anything is written anywhere."""
        await require_writable(self._redis)

    async def with_work(self) -> tuple[str, ...]:
        """Return the conversations that have pending messages or a lease, in a fixed order."""
        return tuple(sorted(str(each) for each in await self._redis.smembers(INDEX)))

    async def state(self, conversation_id: str) -> MailboxState:
        """Return the mailbox as it is now; one that was never written to is idle."""
        state_key, pending_key, messages_key, _, dead_key, _, _, stopped_key, *_ = _keys(conversation_id)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(state_key)
            for ids in (stopped_key, pending_key, dead_key):
                pipe.lrange(ids, 0, -1)
            pipe.hgetall(messages_key)
            fields, stopped, pending, dead, bodies = await pipe.execute()
        lease = None
        if "lease_expires_at" in fields:
            lease = LeaseState(_instant(fields["lease_expires_at"]), _instant(fields["lease_checked_in_at"]))
        return MailboxState(
            status=fields.get("status", "idle"),
            pending=tuple(InboundMessage.model_validate_json(bodies[each]) for each in (*stopped, *pending)),
            dead_letters=tuple(InboundMessage.model_validate_json(bodies[each]) for each in dead),
            lease=lease,
            retries=int(fields.get("retries", "0")),
            stopping=bool(stopped),
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
    lists = [f"{own}:{name}" for name in ("pending", "messages", "seen", "dead")]
    return [own, *lists, INDEX, *(f"{own}:{name}" for name in ("interrupts", "stopped", "arrivals")), SUBSCRIPTIONS]


def _instant(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
