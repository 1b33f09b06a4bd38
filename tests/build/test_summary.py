"""A run says each verdict in one line, and ends with one table that can be acted on."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from seatrial_build.core.junit import junit
from seatrial_build.core.summary import MAX_RERUN, Entry, as_json, origin, table, verdict_line
from seatrial_build.core.verdicts import EXIT_CODES, Judgement


def case(name: str, verdict: str = "passed", **more: object) -> Entry:
    return Entry(f"evals/{name}.yaml", "eval_case", verdict, **more)  # type: ignore[arg-type]


def gate(name: str, verdict: str = "passed", **more: object) -> Entry:
    return Entry(f"tests:{name}", "structure_gate", verdict, **more)  # type: ignore[arg-type]


def test_a_program_reads_every_verdict_of_a_run() -> None:
    document = json.loads(as_json([case("b", "blocked", blocked_by=("//t:g",), origin="not run"), case("a")]))
    assert document["format"] == 1
    assert [(each["address"], each["verdict"], each["blocked_by"]) for each in document["verdicts"]] == [
        ("evals/a.yaml", "passed", []),
        ("evals/b.yaml", "blocked", ["//t:g"]),
    ]


def test_evals_in_python_count_as_cases() -> None:
    found = [case("a"), Entry("evals/x#test_a.py/test_one", "eval_test", "unrecorded"), gate("layers")]
    told = table(found, command="./pants")
    assert "cases: 1 passed, 1 unrecorded\ngates and tests: 1 passed\n" in told
    assert "record: ./pants record 'evals/x#test_a.py/test_one'" in told


@pytest.mark.parametrize(
    ("source", "elapsed", "told"),
    [
        ("ran", 1234, "ran in 1.23 s"),
        ("ran", None, "ran"),
        ("memoized", 1234, "memoized"),
        ("hit_locally", 1234, "cached locally"),
        ("hit_remotely", 1234, "cached remotely"),
    ],
)
def test_the_origin_of_a_verdict_has_a_time_only_when_a_process_ran(
    source: str, elapsed: int | None, told: str
) -> None:
    assert origin(source, elapsed) == told


def test_a_verdict_is_told_with_its_origin_and_the_first_line_of_its_reason() -> None:
    assert verdict_line(case("a", origin="cached locally")) == "evals/a.yaml passed (cached locally)"
    line = verdict_line(case("a", "failed", headline="no Friday", origin="ran in 1.00 s"))
    assert line == "evals/a.yaml failed (ran in 1.00 s): no Friday"
    assert "SEAL OFF" in verdict_line(case("a", unsealed_by_choice=True))


def test_a_run_without_verdicts_ends_without_a_table() -> None:
    assert table([], command="./pants") == ""


def test_the_table_counts_verdicts_by_where_they_came_from() -> None:
    entries = [
        case("a", origin="ran in 0.51 s"),
        case("b", origin="ran in 2.00 s"),
        case("c", origin="cached locally"),
        gate("layers", origin="memoized"),
    ]
    assert table(entries, command="./pants").splitlines() == [
        "",
        "cases: 3 passed (1 cached locally, 2 ran)",
        "gates and tests: 1 passed (1 memoized)",
    ]


def test_blocked_cases_are_counted_under_the_gates_that_block_them_and_the_gates_are_run_again() -> None:
    entries = [
        case("a", "blocked", blocked_by=("tests:layers",)),
        case("b", "blocked", blocked_by=("tests:clock", "tests:layers")),
        case("it's", "failed", headline="no Friday"),
        gate("layers", "failed", headline="an arrow back"),
        gate("clock", "broken", headline="no tests"),
    ]
    lines = table(entries, command="./pants").splitlines()
    assert "  blocked  2 cases by gate tests:layers" in lines
    assert "  blocked  1 case by gate tests:clock" in lines
    assert "  failed   evals/it's.yaml: no Friday" in lines
    assert lines[-1] == """  rerun: ./pants test 'evals/it'"'"'s.yaml' tests:clock tests:layers"""


def test_cases_that_a_recording_heals_are_named_with_the_command_that_records() -> None:
    told = table([case("a", "unrecorded"), case("b c", "stale"), case("d", "failed")], command="./pants")
    assert "\n  record: ./pants record 'evals/b c.yaml' evals/a.yaml\n" in told


def test_what_is_in_a_lane_is_run_again_by_the_command_of_its_lane() -> None:
    waits = case("d", "blocked", blocked_by=("tests:layers",), lane="stress")
    found = [case("a", "failed"), case("b", "stale", lane="stress"), case("c", "failed", lane="stress"), waits]
    assert table(found, command="./pants").splitlines()[-3:] == [
        """  record: ./pants --tag="['stress']" record evals/b.yaml""",
        "  rerun: ./pants test evals/a.yaml tests:layers",
        """  rerun: ./pants --tag="['stress']" test evals/b.yaml evals/c.yaml""",
    ]


def test_a_rerun_of_very_many_targets_is_not_spelled_out() -> None:
    entries = [case(f"{number}", "failed") for number in range(MAX_RERUN + 1)]
    assert "rerun" not in table(entries, command="./pants")


def test_a_seal_that_was_switched_off_is_said_aloud() -> None:
    told = table([case("a", unsealed_by_choice=True), case("b")], command="./pants")
    assert "SEAL OFF: 1 of these verdicts" in told


@pytest.mark.parametrize("verdict", EXIT_CODES)
def test_junit_knows_failures_errors_and_passes(verdict: str) -> None:
    content = junit("evals/a.yaml", "eval_case", Judgement(verdict, 'expected "<Friday>" & more\nsecond', "do"))
    suite = ElementTree.fromstring(content)
    assert suite.get("failures") == str(int(verdict == "failed"))
    assert suite.get("errors") == str(int(verdict not in ("passed", "failed")))
    (test,) = suite.findall("testcase")
    assert test.get("name") == "evals/a.yaml"
    for element in test:
        assert element.get("type") == verdict
        assert element.get("message") == 'expected "<Friday>" & more'
