"""A case in YAML says what happens on Slack and what has to come of it, and is told its mistakes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from echo_model import echo_model
from invented_slack import SlackBinding

from seatrial.binding import BindingFile, Composition
from seatrial.cases.attempt import Attempt, attempt_case
from seatrial.cases.document import InvalidFile
from seatrial.cases.load import Case, load_case
from seatrial.gateway.recording import Recording
from seatrial.gateway.upstream import Upstream
from seatrial.stores.embedded import StoreUrls
from seatrial.verdict import Verdict, decide

HEAD = """\
purpose: Everything that a case can say of Slack.
owner: harness
reviewed: 2026-11-30
review_by: 2027-05-31
"""

CASE = (
    HEAD
    + """\
history:
  - {slack_mention: before, channel: private}
  - {slack_thread_message: and more, author: riley, files: {name: plan.txt, size: 3}}
  - reply: Then.
turns:
  - send: {slack_mention: react eyes, deliveries: 2}
    during: {on: reply, send: {slack_mention: two, author: riley}}
    expect:
      status: [succeeded, succeeded]
      replies: {count: 2, contain: ["You said: react eyes", "You said: two"]}
      reactions: [eyes]
      statuses: ["is thinking…", "is thinking…"]
      slack:
        - {method: chat.postMessage, times: 2, args: {text: {match: '^You said'}}, in_thread: true}
        - {method: chat.update, times: 0}
    steps: [message.accepted, model.requested, reply.delivered]
  - send: [{slack_mention: three}, {slack_edit: four}, {slack_bot_message: "@agent red"}]
    faults: {slack: chat.postMessage, error: ratelimited, retry_after: 20}
    expect:
      replies: {count: 1, contain: "You said: four"}
      reactions: []
      slack:
        - {method: chat.postMessage}
        - {method: chat.postMessage, error: ratelimited}
    steps: [model.requested]
  - new_conversation: true
    send: {slack_direct_message: hi, author: riley, assistant_thread: true}
    expect: {replies: {count: 1}, slack: [{method: chat.postMessage, in_thread: true}]}
    steps: [model.requested]
  - send:
      - {slack_direct_message: oops, author: riley}
      - {slack_direct_message: well, author: riley}
      - {slack_deletion: true, author: riley}
    expect: {replies: {count: 1, contain: "You said: oops"}}
    steps: [model.requested]
"""
)


def load(folder: Path, text: str) -> Case:
    path = folder / "case.yaml"
    path.write_text(text)
    file = BindingFile(folder / "binding.yaml", "m:C", folder, Composition(), {})
    return load_case(path, file, SlackBinding())


async def attempt(case: Case, recording: Recording | None = None, upstream: Upstream | None = None) -> Attempt:
    return await attempt_case(
        case,
        SlackBinding(),
        StoreUrls("", ""),
        recording=recording,
        contracts={},
        upstream=upstream,
        recorded_at="2030-01-15T12:00:00Z",
    )


def run(case: Case) -> Attempt:
    """Record the case and return what the replay found."""

    async def both() -> Attempt:
        async with echo_model() as url:
            recorded = await attempt(case, upstream=Upstream(base_url=url, kind="invented"))
        if recorded.made is None:
            return recorded
        replayed = await attempt(case, recording=recorded.made)
        assert replayed.bodies == recorded.bodies
        return replayed

    return asyncio.run(both())


def test_a_case_that_says_everything_passes(tmp_path: Path) -> None:
    case = load(tmp_path, CASE)
    assert case.composition.slack
    found = run(case)
    assert decide(found.findings)[0] is Verdict.PASSED, found.findings
    assert found.made is None


def one(expect: str, more: str = "") -> str:
    return (
        HEAD
        + f"turns:\n  - send: {{slack_mention: react eyes}}\n{more}"
        + f"    expect: {{{expect}}}\n    steps: [model.requested]\n"
    )


@pytest.mark.parametrize(
    ("expect", "seen"),
    [
        ("reactions: []", "expected: none\nseen:     “eyes”"),
        ("reactions: [eyes, eyes]", "expected: “eyes”, “eyes”\nseen:     “eyes”"),
        ("statuses: []", "seen:     “is thinking…”"),
        ("slack: []", 'chat.postMessage({"channel": '),
        ("slack: [{method: chat.postMessage, times: 2}]", "expected: 2 times chat.postMessage()\nseen:     once among"),
        ("slack: [{method: chat.postMessage, args: {text: Hi}}]", 'once chat.postMessage(text: "Hi")'),
        ("slack: [{method: chat.postMessage, in_thread: false}]", "once chat.postMessage() elsewhere"),
        ("slack: [{method: chat.postMessage, error: ratelimited}]", "once chat.postMessage(), refused: ratelimited"),
        ("slack: [{method: chat.update}]", "expected: once chat.update()\nseen:     never called"),
        (
            "slack: [{method: chat.postMessage, times: 0, args: {text: Hi}}]",
            "expected: no other call of chat.postMessage",
        ),
    ],
)
def test_what_does_not_hold_is_told_with_what_was_seen(tmp_path: Path, expect: str, seen: str) -> None:
    found = run(load(tmp_path, one(expect))).findings
    assert decide(found)[0] is Verdict.FAILED
    assert any(seen in finding.detail for finding in found), [finding.detail for finding in found]


@pytest.mark.parametrize(("text", "holds"), [("@riley x", True), ("@agent x", False)])
def test_an_empty_list_of_steps_says_that_nothing_happens(tmp_path: Path, text: str, holds: bool) -> None:
    more = f"  - send: {{slack_thread_message: '{text}'}}\n    expect: {{slack: [{{method: auth.test, times: 0}}]}}\n"
    found = run(load(tmp_path, one("replies: {count: 1}") + more + "    steps: []\n")).findings
    assert decide(found)[0] is (Verdict.PASSED if holds else Verdict.FAILED)
    assert holds or (found[0].reason, "expected: none" in found[0].detail) == ("turn 2: steps does not hold", True)


def test_a_fault_that_never_came_to_pass_fails_the_case(tmp_path: Path) -> None:
    text = one("replies: {count: 1}", "    faults: {slack: chat.update, drop: after}\n")
    (finding,) = run(load(tmp_path, text)).findings
    assert finding.reason == "turn 1: faults does not hold"
    assert "left over: chat.update" in finding.detail


def test_an_input_that_does_not_fit_its_conversation_makes_the_case_invalid(tmp_path: Path) -> None:
    text = HEAD + "turns:\n  - send: {slack_edit: x}\n    expect: {reactions: []}\n    steps: [model.requested]\n"
    found = run(load(tmp_path, text)).findings
    assert decide(found)[0] is Verdict.INVALID
    assert "no thread for a slack_edit" in found[0].reason


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(InvalidFile) as caught:
        load(folder, text)
    return [mistake.message for mistake in caught.value.mistakes]


def sending(words: str) -> str:
    return one("reactions: []").replace("slack_mention: react eyes", words)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (sending("slack_mentoin: x"), "'slack_mentoin' is no word here; did you mean 'slack_mention'"),
        (sending("slack_mention: x, slack_edit: y"), "an input is one of: web_message: TEXT, slack_mention: TEXT"),
        (sending("slack_deletion: false"), "slack_deletion: true"),
        (sending("slack_mention: x, channel: secret"), "input should be 'public' or 'private', not 'secret'"),
        (sending("slack_thread_message: x, channel: public"), "only a slack_mention has a 'channel'"),
        (sending("web_message: x, files: {name: a}"), "only a message on Slack has 'files'"),
        (sending("slack_edit: x, files: {name: a}"), "only a message on Slack has 'files'"),
        (sending("slack_mention: x, files: {nmae: a}"), "'nmae' is no word here; did you mean 'name'"),
        (sending("web_message: x, deliveries: 2"), "only a message on Slack has 'deliveries'"),
        (sending("slack_mention: x, deliveries: 9"), "less than or equal to 4"),
        (sending("slack_mention: x, assistant_thread: true"), "can begin an 'assistant_thread'"),
        (sending("slack_bot_message: x, author: riley"), "has no 'author'"),
        (
            one("slack: [{method: chat.postMesage}]"),
            "no method 'chat.postMesage' here; did you mean 'chat.postMessage'",
        ),
        (one("slack: [{method: chat.update, time: 2}]"), "'time' is no word here; did you mean 'times'"),
        (one("slack: [{times: 2}]"), "method' is missing"),
        (one("reactions: eyes"), "valid list"),
        (one("reactions: []", "    faults: {slack: chat.posted, drop: after}\n"), "no method 'chat.posted' here"),
        (one("reactions: []", "    faults: {slack: chat.update}\n"), "a fault of Slack is one of"),
        (
            one("reactions: []", "    faults: {slack: chat.update, error: x, drop: after}\n"),
            "a fault of Slack is one of",
        ),
        (one("reactions: []", "    faults: {slack: chat.update, error: ratelimited}\n"), "Slack says 'retry_after'"),
        (one("reactions: []", "    faults: {slack: chat.update, drop: soon}\n"), "'before' or 'after'"),
        (one("reactions: []", "    faults: {drop: after}\n"), "slack' is missing"),
        (one("reactions: []") + "history: [{slack_mention: a, reply: b}]\n", "an item of 'history' is one of"),
        (one("reactions: []") + "history: [{slack_edit: a}, {reply: b}]\n", "'slack_edit' is no word here"),
        (one("reactions: []") + "history: [{reply: b, channel: public}]\n", "only a slack_mention has a 'channel'"),
        (
            one("reactions: []") + "history: [{slack_mention: a, tools: [{name: look_up, output: b}]}, {reply: b}]\n",
            "a slack_mention has no 'tools'",
        ),
        (
            one("reactions: []") + "history: [{slack_mention: a}, {reply: b}, {web_message: c}, {reply: d}]\n",
            "history is on Slack or on the web",
        ),
        (
            one("{}").replace("{{}}", "{}"),
            "say status, replies, tool_calls, title, reactions, statuses, compactions or slack",
        ),
    ],
)
def test_each_mistake_is_told(tmp_path: Path, text: str, part: str) -> None:
    found = mistakes(tmp_path, text)
    assert any(part in message for message in found), found


def test_a_case_without_a_word_of_slack_is_not_there(tmp_path: Path) -> None:
    text = (
        HEAD + "turns:\n  - send: {web_message: x}\n    expect: {status: [succeeded]}\n    steps: [model.requested]\n"
    )
    assert not load(tmp_path, text).composition.slack
