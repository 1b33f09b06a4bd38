"""A case in YAML, from its file to what is found: tools, time, setup data and several conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from echo_model import echo_model
from invented_agent import InventedBinding

from seatrial.binding import BindingFile, Composition
from seatrial.cases.attempt import Attempt, attempt_case
from seatrial.cases.load import Case, load_case
from seatrial.gateway.recording import Recording
from seatrial.gateway.upstream import Upstream
from seatrial.report.text import render
from seatrial.report.trial import trial_record
from seatrial.stores.embedded import StoreUrls

CASE = """\
purpose: Everything that a case can say of tools, time and conversations.
owner: harness
reviewed: 2026-11-30
review_by: 2027-05-31
agent: {plugins: [notes]}
setup:
  - memory: {text: "launch on Friday", about: team}
  - memory: {text: "launch party", about: riley}
history:
  - web_message: before
  - reply: then
    tools: [{name: look_up, input: {query: old}, output: found nothing}]
turns:
  - send: {web_message: look up launch}
    expect:
      status: [succeeded]
      replies: {count: 1, contain: ["launch on Friday (team)", "launch party (riley)"]}
      tool_calls: [{name: look_up, args: {query: {match: '^launch$'}}, times: 1, status: succeeded}]
    steps: [message.accepted, model.requested, tool.called, tool.finished, model.requested, reply.delivered]
  - advance: 1h
  - advance: 30m
    send: {web_message: when}
    expect: {replies: {contain: "when: 2030-01-15 13:30, begun 2030-01-15 12:00"}, tool_calls: []}
    steps: [model.requested]
  - new_conversation: true
    advance: 7d
    send: {web_message: when}
    expect: {replies: {count: 1, contain: "when: 2030-01-22 13:30, begun 2030-01-22 13:30"}}
    steps: [model.requested]
  - send: [{web_message: one}, {web_message: two}]
    expect: {status: [succeeded, succeeded], replies: {count: 2}}
    steps: [message.accepted, message.accepted, model.requested, model.requested]
"""


def load(folder: Path, text: str) -> Case:
    path = folder / "case.yaml"
    path.write_text(text)
    file = BindingFile(folder / "binding.yaml", "m:C", folder, Composition(), {"notes": ("agent.notes",)})
    return load_case(path, file, InventedBinding())


def attempt(case: Case, recording: Recording | None = None, *, record: bool = False) -> Attempt:
    async def scenario() -> Attempt:
        binding, stores = InventedBinding(), StoreUrls("", "")
        if not record:
            return await attempt_case(case, binding, stores, recording=recording, contracts={})
        async with echo_model() as url:
            upstream = Upstream(base_url=url, kind="invented")
            at = "2030-01-15T12:00:00Z"
            return await attempt_case(
                case, binding, stores, recording=None, contracts={}, upstream=upstream, recorded_at=at
            )

    return asyncio.run(scenario())


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """The case, recorded from a model that repeats what it hears."""
    made = attempt(load(tmp_path_factory.mktemp("case"), CASE), record=True).made
    assert made is not None
    return made


def test_a_case_with_tools_time_setup_and_conversations_is_recorded_and_replays(
    tmp_path: Path, recording: Recording
) -> None:
    seen = attempt(load(tmp_path, CASE), recording)
    assert seen.findings == ()
    assert [call.conversation for call in seen.calls] == [1, 1, 2, 2]
    assert [[c["name"] for c in call.tool_calls] for call in seen.calls] == [["look_up"], [], [], []]
    assert seen.calls[0].transcript[0] == ("person", "look up launch")
    assert {request.conversation for request in seen.requests} == {1, 2}


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        ("match: '^launch$'", "match: '^lunch$'", ["tool_calls.look_up", "tool_calls"]),
        ("times: 1", "times: 2", ["tool_calls.look_up"]),
        ("succeeded}]", "failed}]", ["tool_calls.look_up", "tool_calls"]),
        ("name: look_up, args", "name: lookup, args", ["tool_calls.lookup", "tool_calls"]),
        (
            "model.requested, tool.called, tool.finished",
            "tool.called, model.requested, tool.finished",
            ["steps"],
        ),
        # An empty list is a claim too: nothing happens.
        (
            "[message.accepted, model.requested, tool.called, tool.finished, model.requested, reply.delivered]",
            "[]",
            ["steps"],
        ),
    ],
)
def test_each_expectation_of_a_tool_call_can_fail(
    tmp_path: Path, recording: Recording, before: str, after: str, reasons: list[str]
) -> None:
    assert before in CASE
    seen = attempt(load(tmp_path, CASE.replace(before, after)), recording)
    assert [finding.reason for finding in seen.findings] == [
        f"turn 1 (conversation 1): {what} does not hold" for what in reasons
    ]


def test_what_is_not_set_up_is_not_found_by_the_agent(tmp_path: Path, recording: Recording) -> None:
    without = CASE.replace('  - memory: {text: "launch party", about: riley}\n', "")
    seen = attempt(load(tmp_path, without), recording)
    assert any("no recorded answer" in finding.reason for finding in seen.findings)


def test_a_failure_in_a_later_conversation_names_turn_and_conversation(tmp_path: Path, recording: Recording) -> None:
    case = load(tmp_path, CASE.replace("when: 2030-01-22", "when: 2030-01-23"))
    seen = attempt(case, recording)
    assert [finding.reason for finding in seen.findings] == ["turn 3 (conversation 2): replies.contain does not hold"]
    record = trial_record(
        seen.findings,
        address="evals:case",
        case="case.yaml",
        kind="eval_case",
        seal={},
        contracts={},
        calls=seen.calls,
        requests=seen.requests,
    )
    lines = render(record).splitlines()
    assert "  turn 4 (conversation 2): succeeded, succeeded" in lines
    told = lines.index("    person: look up launch")
    assert lines[told + 1].startswith('    tool look_up({"query": "launch", "limit": 3}) -> succeeded: found launch on')
    assert lines[told + 2].startswith("    agent: You said: found")


def test_history_is_the_first_conversations_alone(tmp_path: Path, recording: Recording) -> None:
    seen = attempt(load(tmp_path, CASE), recording)
    assert all(said[1] not in ("before", "then") for call in seen.calls for said in call.transcript)
    assert [len(call.statuses) for call in seen.calls] == [1, 1, 1, 2]


def test_history_has_happened_before_time_is_moved(tmp_path: Path) -> None:
    head, _, turns = CASE.partition("turns:\n")
    first = turns.partition("  - advance")[0].replace("look up launch", "when")
    first = first[: first.index("    expect")] + "    steps: [model.requested]\n"
    first += '    expect: {replies: {contain: "when: 2030-01-18 12:00, begun 2030-01-15 12:00"}}\n'
    seen = attempt(load(tmp_path, f"{head}turns:\n  - advance: 3d\n{first}"), record=True)
    assert seen.findings == () and len(seen.calls) == 1
