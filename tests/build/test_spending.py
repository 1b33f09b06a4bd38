"""What answers cost is read from what they state, and from nothing else."""

from __future__ import annotations

import json

import pytest
from seatrial_build.core.spending import Account, Budget, Ledger, Usage, usage_in

USAGE = {"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34}


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def test_the_usage_of_a_whole_answer_and_of_a_stream_is_read() -> None:
    assert usage_in(json.dumps({"choices": [], "usage": USAGE}).encode()) == Usage(30, 4)
    stream = event({"choices": [1], "usage": None}) + event({"choices": [], "usage": USAGE}) + b"data: [DONE]\n\n"
    assert usage_in(stream) == Usage(30, 4)
    assert usage_in(stream.replace(b"\n", b"\r\n")) == Usage(30, 4)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{",
        b"\x1f\x8b\x08",
        b"data: [DONE]\n\n",
        json.dumps({"choices": [{"message": {"content": '"usage": {"prompt_tokens": 5}'}}]}).encode(),
        json.dumps({"usage": {"prompt_tokens": "many"}}).encode(),
        event({"choices": [{"delta": {"content": "usage"}}]}),
    ],
)
def test_what_states_no_usage_has_none(answer: bytes) -> None:
    assert usage_in(answer) is None


def test_the_sums_are_those_of_the_case_and_the_budget_is_that_of_the_run() -> None:
    ledger = Ledger(Budget(tokens=60))
    first = ledger.open("first")
    assert ledger.admit() == (first, 1)
    ledger.answered(first, Usage(30, 4))
    second = ledger.open("second")
    assert ledger.admit() == (second, 1)
    ledger.answered(second, Usage(30, 4))
    assert (first.tokens, second.tokens) == ("30 tokens in, 4 out", "30 tokens in, 4 out")
    assert ledger.reached == ""  # until somebody asks for more
    assert ledger.admit() is None
    assert ledger.reached == "68 tokens of at most 60 were spent"


def test_an_answer_of_unknown_cost_is_said_and_ends_a_budget_of_tokens_only() -> None:
    for budget, ends in ((Budget(), False), (Budget(requests=5), False), (Budget(tokens=5), True)):
        ledger = Ledger(budget)
        account = ledger.open("a")
        ledger.admit()
        ledger.answered(account, None)
        assert account.tokens == "0 tokens in, 0 out, and 1 answer(s) of unknown cost"
        assert (ledger.admit() is None) is ends


def test_a_new_account_is_empty() -> None:
    assert Account("a").tokens == "0 tokens in, 0 out"
