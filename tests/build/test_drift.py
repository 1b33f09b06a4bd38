"""A check tells what a model says otherwise than it is recorded, before -> after, and the worst of it is the exit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from seatrial_build.core.drift import drift
from seatrial_build.core.recording_report import checked, going_on, kept, not_kept
from seatrial_build.core.spending import Account, Budget, Ledger, Usage


def record(verdict: str = "passed", reply: str = "Friday.", title: str | None = "Budget", **more: Any) -> bytes:
    call = {"transcript": [["Morgan", "When?"], ["Bosun", reply]], "title": title, "tool_calls": []}
    return json.dumps({"verdict": verdict, "calls": [{**call, **more}]}).encode()


def recording(*pieces: str, key: str = "k", fingerprint: str = "f") -> bytes:
    events = [
        json.dumps({"id": fingerprint, "model": fingerprint, "choices": [{"index": 0, "delta": {"content": piece}}]})
        for piece in pieces
    ]
    exchange = {
        "key": key,
        "occurrence": 1,
        "role": "agent",
        "outcome": {"kind": "stream", "events": [*events, "[DONE]"]},
    }
    return json.dumps({"exchanges": [exchange]}).encode()


def test_the_same_words_are_no_drift_however_they_were_cut_and_named() -> None:
    found = drift(record(), record(), recording("Fri", "day."), recording("Friday", ".", fingerprint="g"))
    assert (found.changes, found.exit_code) == ((), 0)


def test_each_difference_is_told_before_and_after() -> None:
    tools = [{"name": "search", "input": {"q": "tea"}, "status": "succeeded", "output": "x"}]
    after = record("failed", "Monday.", None, tool_calls=tools)
    found = drift(record(), after, recording("Friday."), recording("Monday."))
    assert found.changes == (
        "verdict: passed -> failed",
        "call 1, transcript: Bosun: “Friday.” -> Bosun: “Monday.”",
        'call 1, tool calls: none -> search({"q": "tea"}) succeeded',
        "call 1, title: “Budget” -> none",
        "answer to agent: “Friday.” -> “Monday.”",
    )
    assert found.exit_code == 13


def test_words_that_nobody_saw_and_requests_that_changed_are_drift_of_a_recording_that_is_stale() -> None:
    found = drift(record(), record(), recording("Yes."), recording("No."))
    assert (found.changes, found.exit_code) == (("answer to agent: “Yes.” -> “No.”",), 11)
    found = drift(record(), record(), recording("Yes."), recording("Yes.", key="other"))
    assert found.changes == (
        "answer to agent: its request was not made again",
        "answer to agent: its request is new: “Yes.”",
    )


@pytest.mark.parametrize("other", [b'{"choices": 1}', b"", b"{"])
def test_a_run_that_left_no_record_is_drift(other: bytes) -> None:
    assert drift(record(), None, recording("Yes."), None).changes[0] == "verdict: passed -> no record"
    assert drift(record(), other, recording("Yes."), None).exit_code >= 11


def account() -> Account:
    ledger = Ledger(Budget())
    opened = ledger.open("a")
    for _ in range(2):
        ledger.admit()
        ledger.answered(opened, Usage(30, 4))
    return opened


def test_the_line_of_a_case_says_what_became_of_it_and_what_it_cost() -> None:
    line = kept("a.recording.json", changed=True, exchanges=3, account=account(), seconds=1.25)
    assert line == "recorded a.recording.json (3 exchanges: 2 asked, 1 kept; 60 tokens in, 8 out; 1.2 s)"
    assert kept("a", changed=False, exchanges=0, account=Account("a"), seconds=0).startswith("unchanged a (0 exch")
    assert not_kept("a", "failed", account(), 2, ["told", ""]) == (
        "not recorded a (2 asked; 60 tokens in, 8 out; 2.0 s): failed\ntold"
    )
    assert checked("a", [], account(), 2) == "unchanged a (2 asked; 60 tokens in, 8 out; 2.0 s)"
    assert checked("a", ["b: c -> d"], account(), 2).endswith("\n  b: c -> d")


def test_a_run_that_ended_early_says_how_to_go_on() -> None:
    told = going_on("5 requests of at most 5 were made", ["evals/a b.yaml", "c"], check=False)
    assert told.startswith("budget reached: 5 requests of at most 5 were made. What was recorded before stays")
    assert told.endswith("./pants record 'evals/a b.yaml' c")
    assert going_on("x", ["c"], check=True).endswith("./pants record --check c")
