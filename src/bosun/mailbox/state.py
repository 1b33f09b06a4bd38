"""What a mailbox holds, as data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from bosun.log.messages import InboundMessage

MailboxStatus: TypeAlias = Literal["idle", "pending", "running", "paused"]


@dataclass(frozen=True)
class Lease:
    """One worker's right to work on one conversation until `expires_at`.

    The token is secret; whoever lacks it changes nothing.
    """

    conversation_id: str
    token: str
    run_id: str


@dataclass(frozen=True)
class LeaseState:
    """When the holder of a lease last checked in, and when its lease ends without another check-in."""

    expires_at: datetime
    checked_in_at: datetime


@dataclass(frozen=True)
class MailboxState:
    """A mailbox as anybody may see it."""

    status: MailboxStatus
    pending: tuple[InboundMessage, ...]
    """What no ended turn has taken in, in arrival order; while a stop is carried out, first what it discards."""
    dead_letters: tuple[InboundMessage, ...]
    lease: LeaseState | None
    retries: int
    stopping: bool
    """A stop was asked for, and the log does not say yet what became of it."""


@dataclass(frozen=True)
class Taken:
    """The conversation is leased, and this is its work: a run of messages by one actor from one source.

    The run is the first of those that interrupt, if any does, and else the first of all. `exhausted` says that the
    work has been tried as often as it may be: it is to be dead-lettered, not tried again.
    """

    lease: Lease
    batch: tuple[InboundMessage, ...]
    exhausted: bool


@dataclass(frozen=True)
class StopTaken:
    """The conversation is leased, and the first work is a stop: the log is to be told of what was discarded."""

    lease: Lease
    messages: tuple[InboundMessage, ...]
    exhausted: bool


@dataclass(frozen=True)
class Busy:
    """Another worker holds the lease."""


@dataclass(frozen=True)
class Empty:
    """There is nothing to do, or nothing that may be done before the paused turn is resumed."""


Revised: TypeAlias = Literal["waiting", "shown", "gone", "outdated"]
"""What a change of a message found: nobody had been shown it; a worker had, so that the log may have it; it is not
here, or not any more; a newer change was there before. Only the first is done with."""

TakeResult: TypeAlias = Taken | StopTaken | Busy | Empty
