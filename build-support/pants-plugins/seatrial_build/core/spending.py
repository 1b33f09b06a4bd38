"""What a recording costs: the tokens of each answer, the sums of each case, and the budget that ends a run."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Usage:
    """The tokens that the service counted for one answer."""

    input: int
    output: int


@dataclass(frozen=True)
class Budget:
    """The most that a run may ask and spend; None is no limit."""

    requests: int | None = None
    tokens: int | None = None


class Account:
    """What one case has asked so far. ``unknown`` counts answers whose cost the service did not say."""

    def __init__(self, case: str) -> None:
        self.case = case
        self.requests = self.answered = self.unknown = self.input = self.output = 0

    @property
    def tokens(self) -> str:
        """For example `361 tokens in, 25 out`."""
        told = f"{self.input} tokens in, {self.output} out"
        return told + (f", and {self.unknown} answer(s) of unknown cost" if self.unknown else "")


class Ledger:
    """All accounts of a run against its budget. Requests may come from several threads."""

    def __init__(self, budget: Budget) -> None:
        self.reached = ""
        """Why no further request is let through; empty while the budget lasts."""
        self._budget = budget
        self._lock = threading.Lock()
        self._account = Account("")
        self._requests = self._tokens = 0

    def open(self, case: str) -> Account:
        """Begin the account of the next case; from here on requests are its own."""
        with self._lock:
            self._account = Account(case)
            return self._account

    def admit(self) -> tuple[Account, int] | None:
        """Book a request, and return its account and its number there; None when the budget is reached."""
        with self._lock:
            limits = self._budget
            if limits.requests is not None and self._requests >= limits.requests:
                self.reached = self.reached or f"{self._requests} requests of at most {limits.requests} were made"
            if limits.tokens is not None and self._tokens >= limits.tokens:
                self.reached = self.reached or f"{self._tokens} tokens of at most {limits.tokens} were spent"
            if self.reached:
                return None
            self._requests += 1
            self._account.requests += 1
            return self._account, self._account.requests

    def answered(self, account: Account, usage: Usage | None) -> None:
        """Book what an answer has cost."""
        with self._lock:
            account.answered += 1
            if usage is not None:
                account.input += usage.input
                account.output += usage.output
                self._tokens += usage.input + usage.output
                return
            account.unknown += 1
            if self._budget.tokens is not None:
                self.reached = "the service does not say what its answers cost, so no budget of tokens can be kept"


def usage_in(answer: bytes) -> Usage | None:
    """Return the usage that an answer states, be it one JSON value or a stream of events; None when it states none."""
    found = None
    for text in [answer] if answer[:1] == b"{" else _data(answer):
        if b'"usage"' in text:
            found = _usage(text) or found
    return found


def _data(stream: bytes) -> list[bytes]:
    lines = stream.replace(b"\r", b"\n").split(b"\n")
    return [line[len(b"data:") :] for line in lines if line.startswith(b"data:")]


def _usage(text: bytes) -> Usage | None:
    try:
        value: Any = json.loads(text)
    except ValueError:
        return None
    usage = value.get("usage") if isinstance(value, dict) else None
    if not isinstance(usage, dict):
        return None
    numbers = [usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
    return Usage(*numbers) if all(isinstance(number, int) for number in numbers) else None
