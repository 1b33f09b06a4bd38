"""A case is loaded whole or not at all, and every mistake in it is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seatrial.binding import BindingFile, Composition
from seatrial.cases.document import InvalidFile
from seatrial.cases.load import Case, load_case
from seatrial.cases.turns import AdvanceWords, TurnWords
from seatrial.history import RecordedConversation, reply, tool_call

GOOD = """\
purpose: Something that must not be simplified away.
owner: team
reviewed: 2026-11-30
review_by: 2027-05-31
turns:
  - send: {web_message: Hello}
    expect:
      status: [succeeded]
    steps: [model.requested]
"""

ACCOUNT = """\
purpose: A normal account.
owner: team
reviewed: 2026-11-30
review_by: 2027-05-31
contracts: {context.account: 1}
snapshot: {plan: active}
"""


class Rules:
    """The part of a binding that loading asks: an agent whose snapshot needs a plan, and memory its plugin."""

    def check_snapshot(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        return () if "plan" in data else ("'plan' is missing",)

    def check_limits(self, limits: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(f"there is no limit '{name}'" for name in limits if name != "seconds")

    def check_setup(self, kind: str, data: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        return () if kind in composition.plugins else (f"'{kind}' needs the plugin '{kind}': add it",)

    def check_tool_call(self, name: str, input: Mapping[str, Any], composition: Composition) -> tuple[str, ...]:
        return () if name == "look_up" else (f"there is no tool '{name}'",)

    def check_recorded(self, recorded: RecordedConversation) -> tuple[str, ...]:
        return () if recorded.data else ("it is empty", "it has no words")


def load(folder: Path, text: str) -> Case:
    root = folder / "evals"
    (root / "fixtures").mkdir(parents=True, exist_ok=True)
    (root / "fixtures" / "standard.yaml").write_text(ACCOUNT)
    (root / "fixtures" / "talk.json").write_text('["a"]')
    (root / "fixtures" / "empty.json").write_text("[]")
    (root / "fixtures" / "broken.json").write_text("[")
    (root / "fixtures" / "bad.yaml").write_text(ACCOUNT.replace("plan: active", "name: Morgan"))
    path = root / "case.yaml"
    path.write_text(text)
    file = BindingFile(root / "binding.yaml", "m:C", root, Composition(), {"memory": ("agent.memory",)})
    return load_case(path, file, Rules())  # type: ignore[arg-type]


def mistakes(folder: Path, text: str) -> list[tuple[int, str]]:
    with pytest.raises(InvalidFile) as caught:
        load(folder, text)
    return [(mistake.line, mistake.message) for mistake in caught.value.mistakes]


def test_a_case_without_mistakes_is_loaded_with_the_default_composition(tmp_path: Path) -> None:
    case = load(tmp_path, GOOD)
    assert case.composition == Composition() and case.snapshot is None
    assert case.recording_path.name == "case.recording.json"


def test_five_mistakes_are_five_messages_with_their_lines(tmp_path: Path) -> None:
    text = GOOD.replace("owner: team", "ownr: team").replace("Hello}", "Hello, autor: riley}")
    text = text.replace("[succeeded]", "[suceeded]").replace("model.requested", "model.request")
    text += "snapshot: fixtures/standrd.yaml\n"
    found = mistakes(tmp_path, text)
    assert [line for line, _ in found] == [1, 2, 6, 8, 9, 10]
    told = "\n".join(message for _, message in found)
    for part in ("'owner' is missing", "'ownr' is no word here; did you mean 'owner'", "did you mean 'author'"):
        assert part in told
    assert "no step 'model.request'; did you mean 'model.requested'" in told
    assert "did you mean 'fixtures/standard.yaml'" in told


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("status: [succeeded]", "status: null", "asserts nothing"),
        ("status: [succeeded]", "replies: {}", "asserts nothing"),
        ("status: [succeeded]", "replies: {match: ['(']}", "no regular expression"),
        ("    steps: [model.requested]\n", "", "'turns.1.steps' is missing"),
        ("{web_message: Hello}", "[]", "at least 1 item"),
        ("review_by: 2027-05-31", "review_by: 2026-11-30", "is not after"),
        ("owner: team", "owner: ''", "at least 1 character"),
        ("owner: team", "owner: team\nclock: {at: 2030-01-15T12:00:00}", "names no zone"),
        ("owner: team", "owner: team\nclock: {at: 2030-01-15T12:00:00Z, zone: Mars/Base}", "no time zone 'Mars/Base'"),
        ("owner: team", "owner: team\nagent: {plugins: [memry]}", "no plugin 'memry'; did you mean 'memory'"),
        ("owner: team", "owner: team\nagent: {limits: {minutes: 1}}", "no limit 'minutes'"),
        ("owner: team", "owner: team\nsnapshot: fixtures/bad.yaml", "'plan' is missing"),
        ("owner: team", "owner: team\nsnapshot: ../../etc/passwd", "is no file under"),
        ("owner: team", "owner: team\nrecorded_history: fixtures/tlk.json", "did you mean 'fixtures/talk.json'"),
        ("owner: team", "owner: team\nrecorded_history: ../case.yaml", "is no file under"),
        ("owner: team", "owner: team\nrecorded_history: fixtures/broken.json", "broken.json: is not JSON"),
        ("owner: team", "owner: team\nrecorded_history: fixtures/empty.json", "empty.json: it has no words"),
        ("owner: team", "owner: team\nhistory: [{reply: hi}]", "a reply to nothing"),
        ("owner: team", "owner: team\nhistory: [{web_message: hi}]", "without a reply"),
    ],
)
def test_each_mistake_is_told(tmp_path: Path, before: str, after: str, part: str) -> None:
    assert before in GOOD
    found = mistakes(tmp_path, GOOD.replace(before, after))
    assert any(part in message for _, message in found), found


TURN = """\
  - send: {web_message: And now}
    expect: {status: [succeeded]}
    steps: [model.requested]
"""
MEMORY = "agent: {plugins: [memory]}\n"


def with_expect(words: str) -> str:
    return GOOD.replace("status: [succeeded]", words)


def during(words: str) -> str:
    return GOOD.replace("    steps", f"    during: [{words}]\n    steps")


def test_what_happens_during_a_turn_and_where_it_forks_is_read(tmp_path: Path) -> None:
    text = GOOD + "history: [{web_message: Hi}, {reply: Hello}]\n"
    text = text.replace("  - send", "  - fork: {at: reply 1}\n    during: {on: paused, nth: 2, advance: 2h}\n    send")
    (turn,) = load(tmp_path, text).words.turns
    assert isinstance(turn, TurnWords) and turn.fork is not None and turn.fork.at == 1
    (item,) = turn.during
    assert (item.on, item.nth, item.advance, item.send, item.stop) == ("paused", 2, 7200, None, None)


def test_time_and_conversations_are_read_from_the_items(tmp_path: Path) -> None:
    text = (
        GOOD + "  - advance: 2h\n" + TURN.replace("  - send", "  - new_conversation: true\n    advance: 7d\n    send")
    )
    first, pause, last = load(tmp_path, text).words.turns
    assert isinstance(first, TurnWords) and (first.advance, first.new_conversation) == (None, False)
    assert isinstance(pause, AdvanceWords) and pause.advance == 7200
    assert isinstance(last, TurnWords) and (last.advance, last.new_conversation) == (604800, True)


def test_setup_and_the_tools_of_history_are_read_as_what_they_say(tmp_path: Path) -> None:
    text = GOOD + MEMORY + "setup: [{memory: {text: T}}, {memory: {text: U, about: riley}}]\n"
    text += "history: [{web_message: Hi}, {reply: Done, tools: [{name: look_up, input: {q: [1]}, output: ''}]}]\n"
    case = load(tmp_path, text)
    assert case.setup == (("memory", {"text": "T", "about": "team"}), ("memory", {"text": "U", "about": "riley"}))
    assert case.history[0].reply == reply("Done", tools=[tool_call("look_up", {"q": [1]}, "")])


def test_one_part_may_stand_for_a_list_of_one(tmp_path: Path) -> None:
    (turn,) = load(tmp_path, with_expect("title: {contain: Budget}")).words.turns
    assert isinstance(turn, TurnWords) and turn.expect.title is not None
    assert turn.expect.title.contain == ["Budget"]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        (with_expect("tool_calls: [{name: look, arguments: {q: 1}}]"), 8, "'arguments' is no word here"),
        (with_expect("tool_calls: [{args: {q: 1}}]"), 8, "tool_calls.1.name' is missing"),
        (with_expect("tool_calls: [{name: look, times: 0}]"), 8, "greater than or equal to 1"),
        (with_expect("tool_calls: [{name: look, status: done}]"), 8, "input should be"),
        (with_expect("tool_calls: [{name: look, args: {q: {contains: x}}}]"), 8, "did you mean 'contain'?"),
        (with_expect("tool_calls: [{name: look, args: {q: {contain: x, of: y}}}]"), 8, "beside other words"),
        (with_expect("tool_calls: [{name: look, args: {q: {contain: []}}}]"), 8, "asserts nothing"),
        (with_expect("tool_calls: [{name: look, args: {q: {match: '('}}}]"), 8, "no regular expression"),
        (with_expect("tool_calls: [{name: look, args: {day: 2030-01-15}}]"), 8, "put it in quotes"),
        (with_expect("tool_calls: [{name: look, times: 2}, {name: look}]"), 8, "says the same of 'look' twice"),
        (GOOD + "  - advance: 7 days\n" + TURN, 10, "'7 days' is no span of time"),
        (GOOD + "  - advance: 7\n" + TURN, 10, "7 is no span of time"),
        (GOOD + "  - advance: 7d\n    sned: {}\n" + TURN, 11, "'sned' is no word here; did you mean 'send'"),
        (GOOD + TURN.replace("send: {web_message: And now}", "advance: 7d"), 10, "'turns.2.send' is missing"),
        (GOOD + "  - advance: 7d\n", 10, "nothing is sent after this time has passed"),
        (GOOD + "  - Hello\n", 10, "valid dictionary"),
        (GOOD.replace("  - send", "  - new_conversation: true\n    send"), 6, "leave 'new_conversation' out"),
        (GOOD + TURN.replace("  - send", "  - new_conversation: 1\n    send"), 10, "valid boolean"),
        (during("{on: reply, send: {web_message: x}}"), 9, "'reply' is the moment of a delivery on Slack"),
        (during("{on: answer, stop: true}"), 9, "input should be 'model_request', 'tool_request', 'reply' or 'paused'"),
        (during("{on: paused}"), 9, "does one of: send, advance: SPAN, stop: true"),
        (during("{on: paused, stop: false}"), 9, "does one of"),
        (during("{on: paused, stop: true, advance: 1h}"), 9, "does one of"),
        (during("{on: paused, nth: 0, stop: true}"), 9, "greater than or equal to 1"),
        (during("{on: paused, stpo: true}"), 9, "'stpo' is no word here; did you mean 'stop'"),
        (during("{on: paused, advance: soon}"), 9, "'soon' is no span of time"),
        (during("{stop: true}"), 9, "during.1.on' is missing"),
        (during("{on: paused, send: {author: riley}}"), 9, "an input is one of: web_message: TEXT, "),
        (during("{on: paused, send: {web_message: x, web_stop: true}}"), 9, "an input is one of"),
        (GOOD.replace("web_message: Hello", "web_stop: false"), 6, "an input is one of"),
        (GOOD + TURN.replace("  - send", "  - fork: {at: answer 1}\n    send"), 10, "'answer 1' names no reply"),
        (GOOD + TURN.replace("  - send", "  - fork: {at: reply 0}\n    send"), 10, "'reply 0' names no reply"),
        (GOOD + TURN.replace("  - send", "  - fork: {}\n    send"), 10, "fork.at' is missing"),
        (GOOD.replace("  - send", "  - fork: {at: reply 1}\n    send"), 6, "nothing to branch off"),
        (
            GOOD + TURN.replace("  - send", "  - fork: {at: reply 1}\n    new_conversation: true\n    send"),
            10,
            "leave 'new_conversation' out",
        ),
        (GOOD + "setup: [{memory: {text: T}}]\n", 10, "needs the plugin 'memory': add it"),
        (GOOD + MEMORY + "setup: [{memry: {text: T}}]\n", 11, "'memry' is no word here; did you mean 'memory'"),
        (GOOD + MEMORY + "setup: [{watch: {text: T}}]\n", 11, "'watch' is no word here"),
        (GOOD + MEMORY + "setup: [{}]\n", 11, "one of: memory"),
        (GOOD + MEMORY + "setup: [{memory: {about: team}}]\n", 11, "memory.text' is missing"),
        (GOOD + MEMORY + "setup: [{memory: null}]\n", 11, "one of: memory"),
        (GOOD + "history: [{web_message: Hi, tools: [{name: look_up, output: x}]}]\n", 10, "has no 'tools'"),
        (
            GOOD + "history:\n  - web_message: Hi\n  - reply: Done\n    tools: [{name: look, output: x}]\n",
            13,
            "there is no tool 'look'",
        ),
    ],
)
def test_each_mistake_in_the_newer_words_is_told_with_its_line(tmp_path: Path, text: str, line: int, part: str) -> None:
    found = mistakes(tmp_path, text)
    assert any(at == line and part in message for at, message in found), found
    assert len(found) == 1, found


def test_a_mistake_in_one_part_hides_none_in_another(tmp_path: Path) -> None:
    text = GOOD.replace("owner: team", "ownr: team").replace("  - send", "  - new_conversation: true\n    send")
    text += "agent: {plugins: []}\nsetup: [{memory: {text: T}}]\nhistory: [{reply: hi}]\n"
    told = "\n".join(message for _, message in mistakes(tmp_path, text))
    for part in (
        "'ownr'",
        "'owner' is missing",
        "leave 'new_conversation' out",
        "needs the plugin",
        "reply to nothing",
    ):
        assert part in told


def test_a_plugin_that_is_misspelt_is_one_mistake_and_not_one_for_each_use_of_it(tmp_path: Path) -> None:
    text = GOOD + "agent: {plugins: [memry]}\nsetup: [{memory: {text: T}}]\n"
    assert [message for _, message in mistakes(tmp_path, text)] == [
        "there is no plugin 'memry'; did you mean 'memory'?"
    ]


def test_a_mistake_in_a_fixture_names_the_fixture(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as caught:
        load(tmp_path, GOOD + "snapshot: fixtures/bad.yaml\n")
    assert [Path(m.path).name for m in caught.value.mistakes] == ["bad.yaml"]


def test_the_versions_of_a_fixture_are_kept_with_its_path(tmp_path: Path) -> None:
    case = load(tmp_path, GOOD + "snapshot: fixtures/standard.yaml\n")
    assert [(Path(path).name, dict(versions)) for path, versions in case.fixture_contracts.items()] == [
        ("standard.yaml", {"context.account": 1})
    ]


def test_a_recorded_conversation_comes_instead_of_history(tmp_path: Path) -> None:
    text = GOOD + "recorded_history: fixtures/talk.json\n"
    case = load(tmp_path, text.replace("- send:", "- fork: {at: reply 1}\n    send:"))
    assert case.recorded is not None and case.recorded.data == ["a"]
    assert load(tmp_path, GOOD).recorded is None
    both = text + "history: [{web_message: hi}, {reply: ho}]\n"
    assert mistakes(tmp_path, both) == [(10, "'recorded_history' stands instead of 'history': leave one out")]
