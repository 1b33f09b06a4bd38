"""A case is loaded whole or not at all, and every mistake in it is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seatrial.binding import BindingFile, Composition
from seatrial.cases.document import InvalidFile
from seatrial.cases.load import Case, load_case

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
    """The part of a binding that loading asks: an agent whose snapshot needs a plan."""

    def check_snapshot(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        return () if "plan" in data else ("'plan' is missing",)

    def check_limits(self, limits: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(f"there is no limit '{name}'" for name in limits if name != "seconds")


def load(folder: Path, text: str) -> Case:
    root = folder / "evals"
    (root / "fixtures").mkdir(parents=True, exist_ok=True)
    (root / "fixtures" / "standard.yaml").write_text(ACCOUNT)
    (root / "fixtures" / "bad.yaml").write_text(ACCOUNT.replace("plan: active", "name: Morgan"))
    path = root / "case.yaml"
    path.write_text(text)
    file = BindingFile(root / "binding.yaml", "m:C", root, Composition(), {"memory": "agent.memory"})
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
        ("[model.requested]", "[]", "at least 1 item"),
        ("{web_message: Hello}", "[]", "at least 1 item"),
        ("review_by: 2027-05-31", "review_by: 2026-11-30", "is not after"),
        ("owner: team", "owner: ''", "at least 1 character"),
        ("owner: team", "owner: team\nclock: {at: 2030-01-15T12:00:00}", "names no zone"),
        ("owner: team", "owner: team\nclock: {at: 2030-01-15T12:00:00Z, zone: Mars/Base}", "no time zone 'Mars/Base'"),
        ("owner: team", "owner: team\nagent: {plugins: [memry]}", "no plugin 'memry'; did you mean 'memory'"),
        ("owner: team", "owner: team\nagent: {limits: {minutes: 1}}", "no limit 'minutes'"),
        ("owner: team", "owner: team\nsnapshot: fixtures/bad.yaml", "'plan' is missing"),
        ("owner: team", "owner: team\nsnapshot: ../../etc/passwd", "is no file under"),
        ("owner: team", "owner: team\nhistory: [{reply: hi}]", "a reply to nothing"),
        ("owner: team", "owner: team\nhistory: [{web_message: hi}]", "without a reply"),
    ],
)
def test_each_mistake_is_told(tmp_path: Path, before: str, after: str, part: str) -> None:
    assert before in GOOD
    found = mistakes(tmp_path, GOOD.replace(before, after))
    assert any(part in message for _, message in found), found


def test_a_mistake_in_a_fixture_names_the_fixture(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as caught:
        load(tmp_path, GOOD + "snapshot: fixtures/bad.yaml\n")
    assert [Path(m.path).name for m in caught.value.mistakes] == ["bad.yaml"]


def test_the_versions_of_a_fixture_are_kept_with_its_path(tmp_path: Path) -> None:
    case = load(tmp_path, GOOD + "snapshot: fixtures/standard.yaml\n")
    assert [(Path(path).name, dict(versions)) for path, versions in case.fixture_contracts.items()] == [
        ("standard.yaml", {"context.account": 1})
    ]
