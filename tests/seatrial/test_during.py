"""A case in YAML does things while a turn runs, stops it, and goes on in a fork."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from echo_model import echo_model
from invented_agent import InventedBinding, TalksOnly

from seatrial.binding import Binding, BindingFile, Composition
from seatrial.cases.attempt import Attempt, attempt_case
from seatrial.cases.load import Case, load_case
from seatrial.gateway.recording import Recording
from seatrial.gateway.upstream import Upstream
from seatrial.stores.embedded import StoreUrls
from seatrial.verdict import Verdict, decide

CASE = """\
purpose: Everything that a case can do while a turn runs.
owner: harness
reviewed: 2026-11-30
review_by: 2027-05-31
agent: {limits: {slice_seconds: 30}}
history:
  - web_message: before
  - reply: then
turns:
  - send: {web_message: one}
    during:
      - {on: model_request, send: {web_message: two}}
      - {on: model_request, nth: 2, advance: 10s}
      - {on: model_request, nth: 2, send: {web_message: three, author: riley}}
    expect:
      status: [succeeded, succeeded]
      replies: {contain: ["You said: one / two", "You said: three"]}
    steps: [message.accepted, model.requested, model.requested, model.requested]
  - send: {web_message: slow}
    during:
      - {on: model_request, advance: 30s}
      - {on: paused, send: {web_message: go on}}
    expect: {status: [succeeded], replies: {count: 1, contain: "You said: slow / go on"}}
    steps: [model.requested, turn.paused, model.requested]
  - send: {web_message: "use a"}
    during: {on: tool_request, stop: true}
    expect: {status: [no_reply], replies: {count: 1, contain: I stopped}, tool_calls: []}
    steps: [model.requested]
  - fork: {at: reply 2}
    send: {web_message: slow}
    during: [{on: model_request, send: {web_stop: true, author: riley}}]
    expect: {status: [no_reply], replies: {count: 1}}
    steps: [model.requested]
  - send: [{web_message: four}, {web_message: five}, {web_stop: true}, {web_message: six}]
    expect: {status: [succeeded], replies: {count: 1, contain: "You said: six"}}
    steps: [message.accepted, message.accepted, message.accepted, model.requested]
"""


def load(folder: Path, text: str) -> Case:
    path = folder / "case.yaml"
    path.write_text(text)
    file = BindingFile(folder / "binding.yaml", "m:C", folder, Composition(), {})
    return load_case(path, file, InventedBinding())


def attempt(
    case: Case, recording: Recording | None = None, *, record: bool = False, binding: Binding | None = None
) -> Attempt:
    async def scenario() -> Attempt:
        made, stores = binding or InventedBinding(), StoreUrls("", "")
        if not record:
            return await attempt_case(case, made, stores, recording=recording, contracts={})
        async with echo_model() as url:
            upstream = Upstream(base_url=url, kind="invented")
            at = "2030-01-15T12:00:00Z"
            return await attempt_case(
                case, made, stores, recording=None, contracts={}, upstream=upstream, recorded_at=at
            )

    return asyncio.run(scenario())


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """The case, recorded from a model that repeats what it hears."""
    seen = attempt(load(tmp_path_factory.mktemp("case"), CASE), record=True)
    assert seen.findings == () and seen.made is not None
    return seen.made


def test_a_case_that_acts_while_its_turns_run_is_recorded_and_replays(tmp_path: Path, recording: Recording) -> None:
    seen = attempt(load(tmp_path, CASE), recording)
    assert seen.findings == ()
    assert [call.conversation for call in seen.calls] == [1, 1, 1, 2, 2]
    kinds = [exchange.outcome.kind for exchange in recording.exchanges]
    aborted = "aborted_by_client"
    assert kinds == ["answer", "answer", "answer", aborted, "answer", "answer", aborted, "answer"]
    assert seen.calls[0].transcript == (
        ("person", "one"),
        ("person", "two"),
        ("agent", "You said: one / two"),
        ("person", "three"),
        ("agent", "You said: three"),
    )
    (first, second, *_) = (check for check in seen.calls[0].checks if check.what.startswith("during"))
    assert (first.expected, second.expected, second.seen) == ("at least 1", "at least 2", "3")


def test_a_fork_goes_on_from_where_it_branched_off(tmp_path: Path) -> None:
    head = CASE.partition("  - send: {web_message: slow}")[0]
    turn = """\
  - fork: {at: reply %d}
    send: {web_message: when}
    expect: {replies: {contain: "begun 2030-01-15 12:00"}}
    steps: [model.requested]
"""
    forked = attempt(load(tmp_path, head + turn % 2), record=True)
    assert forked.findings == () and [call.conversation for call in forked.calls] == [1, 2]
    seen = attempt(load(tmp_path, head + turn % 4), record=True)
    verdict, reason = decide(seen.findings)
    assert verdict is Verdict.INVALID and reason is not None
    assert reason.reason == "turn 2: there is no reply 4 to fork at: the conversation has 3"


def test_a_moment_that_never_came_is_no_pass(tmp_path: Path, recording: Recording) -> None:
    late = CASE.replace("{on: tool_request, stop", "{on: tool_request, nth: 2, stop").replace(
        "I stopped}, tool_calls: []}", "found nothing}}"
    )
    seen = attempt(
        load(tmp_path, late.replace("status: [no_reply], replies: {count: 1, c", "replies: {c", 1)), record=True
    )
    assert [finding.reason for finding in seen.findings] == [
        "turn 3 (conversation 1): during.tool_request does not hold"
    ]
    assert seen.findings[0].detail == "expected: at least 2\nseen:     1"


def test_a_case_that_stops_or_forks_an_agent_that_cannot_is_invalid(tmp_path: Path, recording: Recording) -> None:
    seen = attempt(load(tmp_path, CASE), recording, binding=TalksOnly())
    verdict, reason = decide(seen.findings)
    assert (
        verdict is Verdict.INVALID
        and reason is not None
        and "turn 3: the agent under test cannot be stopped" in (reason.reason)
    )
    assert len(seen.calls) == 2
