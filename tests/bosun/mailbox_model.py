"""What a mailbox is, in plain Python: the test's own account of the rules, which the scripts are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field

from bosun.log.messages import InboundMessage

LEASE = 90.0
ATTEMPTS = 3


@dataclass
class Letter:
    """A message and when it came, counted."""

    message: InboundMessage
    number: int


@dataclass
class Leased:
    """Who works, and until when."""

    token: str
    until: float


@dataclass
class PlainMailbox:
    """One conversation's mailbox. Times are seconds."""

    now: float
    waiting: list[Letter] = field(default_factory=list)
    discarded: list[Letter] = field(default_factory=list)
    dead: list[Letter] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    lease: Leased | None = None
    paused: bool = False
    failures: int = 0
    subscribed: bool = False
    shown_to: int = 0
    """The number of the last message that a worker has been shown."""
    begun_at: int | None = None
    """The number of the last message that was there when the open turn was begun."""

    def append(self, message: InboundMessage, subscribe: bool = False) -> bool:
        """Put a message behind the others, once."""
        if message.id in self.known:
            return False
        self.known.add(message.id)
        self.waiting.append(Letter(message, len(self.known)))
        self.subscribed = self.subscribed or subscribe
        return True

    def revise(self, message_id: str, revision: int, text: str | None) -> str:
        """Change a message, or take it back."""
        letters = [each for each in (*self.discarded, *self.waiting, *self.dead) if each.message.id == message_id]
        if not letters:
            return "gone"
        letter = letters[0]
        if text is not None and letter.message.revision >= revision:
            return "outdated"
        kind = "waiting" if letter not in self.dead and letter.number > self.shown_to else "shown"
        if text is not None:
            letter.message = letter.message.model_copy(update={"text": text, "revision": revision})
        elif kind == "waiting":
            self._remove([message_id])
            self._rest()
        return kind

    def take(self, token: str, resumed: bool) -> tuple[str, list[str], bool]:
        """Return what a worker gets: a kind, the ids, and whether they were tried too often."""
        if self.lease is not None and self.lease.until > self.now:
            return "busy", [], False
        urgent = [letter for letter in self.waiting if letter.message.interrupt]
        kind, letters = ("stopped", self.discarded) if self.discarded else ("work", urgent or self.waiting)
        if kind == "work" and self.paused and not urgent and not resumed:
            return "empty", [], False
        if not letters:
            self.lease, self.failures, self.begun_at, self.paused = None, 0, None, False
            return "empty", [], False
        if self.lease is not None:
            self.failures += 1
        self.lease, self.paused = Leased(token, self.now + LEASE), False
        self.shown_to = len(self.known)
        if kind == "work":
            if self.begun_at is None:
                self.begun_at = len(self.known)
            sender = letters[0].message
            for place, letter in enumerate(letters):
                if (letter.message.actor_id, letter.message.source) != (sender.actor_id, sender.source):
                    letters = letters[:place]
                    break
        return kind, [letter.message.id for letter in letters], self.failures >= ATTEMPTS

    def read(self, token: str) -> tuple[bool, list[tuple[bool, str]]] | None:
        """Return whether the turn is stopped and what waits, with whether it is news; None without the lease."""
        if self.lease is None or self.lease.token != token:
            return None
        if self.begun_at is None:
            self.begun_at = len(self.known)
        self.shown_to = len(self.known)
        news = [(letter.number > self.begun_at, letter.message.id) for letter in self.waiting]
        return bool(self.discarded), news

    def stop(self, asked_by: InboundMessage | None = None) -> int:
        """Take everything out of the line, the message that asks for it too, which may do so once."""
        if asked_by is not None and not self.append(asked_by):
            return -1
        self.subscribed = False
        self.discarded += self.waiting
        self.waiting, self.paused = [], False
        return len(self.discarded)

    def consume(self, token: str, ids: list[str], ended: bool) -> None:
        """Forget messages."""
        self._remove(ids)
        if ended and self.lease is not None and self.lease.token == token:
            self.failures, self.begun_at = 0, None
        self._rest()

    def _rest(self) -> None:
        if self.lease is None and not self.waiting and not self.discarded:
            self.failures, self.begun_at, self.paused = 0, None, False

    def bury(self, token: str, ids: list[str]) -> None:
        """Make dead letters, with the lease."""
        if self.lease is not None and self.lease.token == token:
            self.dead += self._remove(ids)
            self.failures, self.begun_at = 0, None

    def release(self, token: str, outcome: str) -> int:
        """Give the lease back. Return how many wait."""
        if self.lease is None or self.lease.token != token:
            return 0
        self.lease = None
        self.failures += outcome == "failed"
        left = len(self.waiting) + len(self.discarded)
        if left == 0:
            self.begun_at = None
        elif outcome == "paused" and not self.discarded:
            self.paused, self.failures = True, 0
        return left

    def check_in(self, token: str) -> bool:
        """Prolong the lease."""
        if self.lease is None or self.lease.token != token:
            return False
        self.lease.until = self.now + LEASE
        return True

    @property
    def status(self) -> str:
        """The status in a word."""
        if self.lease is not None:
            return "running"
        if self.paused:
            return "paused"
        return "pending" if self.waiting or self.discarded else "idle"

    def _remove(self, ids: list[str]) -> list[Letter]:
        taken = [
            next(letter for letter in (*self.discarded, *self.waiting) if letter.message.id == each)
            for each in ids
            if any(letter.message.id == each for letter in (*self.discarded, *self.waiting))
        ]
        self.discarded = [letter for letter in self.discarded if letter.message.id not in ids]
        self.waiting = [letter for letter in self.waiting if letter.message.id not in ids]
        return taken
