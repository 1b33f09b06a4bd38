"""Verdicts grow with severity, and gates decide over their cases."""

from __future__ import annotations

import pytest
from seatrial_build.core.verdicts import EXIT_CODES, GATE_VERDICTS, GateOutcome, Judgement, hindrance


def outcome(address: str, verdict: str, reason: str = "", cure: str = "") -> GateOutcome:
    return GateOutcome(address, Judgement(verdict, reason, cure))


def test_a_run_that_ends_with_the_largest_exit_code_ends_with_the_gravest_verdict() -> None:
    by_code = sorted(EXIT_CODES, key=lambda verdict: EXIT_CODES[verdict])
    assert by_code == [
        "passed",
        "blocked",
        "stale",
        "unrecorded",
        "failed",
        "broken",
        "invalid",
        "unsealed",
    ]


def test_a_word_that_is_no_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="'ok' is no verdict"):
        Judgement("ok")


def test_the_headline_is_the_first_line_of_the_reason() -> None:
    assert Judgement("failed", "\nfirst\nsecond").headline == "first"
    assert Judgement("passed").headline == ""


def test_gates_that_passed_hinder_nothing() -> None:
    assert hindrance([outcome("a", "passed"), outcome("b", "passed")], command="./pants test") is None
    assert hindrance([], command="./pants test") is None


@pytest.mark.parametrize("verdict", [verdict for verdict in GATE_VERDICTS if verdict in ("failed", "broken")])
def test_a_gate_that_failed_or_broke_blocks_and_is_named(verdict: str) -> None:
    found = hindrance([outcome("//tests:b", verdict), outcome("//tests:a", "passed")], command="./pants test")
    assert found is not None
    assert found.judgement.verdict == "blocked"
    assert found.gates == ("//tests:b",)
    assert found.judgement.reason == f"gate '//tests:b' {verdict}"
    assert found.judgement.cure == "Run: ./pants test //tests:b"


def test_every_gate_that_blocks_is_named_in_a_fixed_order() -> None:
    found = hindrance([outcome("b", "broken"), outcome("a", "failed")], command="./pants test")
    assert found is not None
    assert found.gates == ("a", "b")
    assert found.judgement.cure == "Run: ./pants test a b"


def test_a_case_whose_gates_could_not_be_sealed_is_unsealed_with_the_gates_reason_and_cure() -> None:
    found = hindrance([outcome("a", "unsealed", "no namespaces", "allow them")], command="./pants test")
    assert found is not None
    assert found.judgement == Judgement("unsealed", "no namespaces", "allow them")
    assert found.gates == ("a",)


def test_a_gate_that_failed_counts_more_than_one_that_could_not_be_sealed() -> None:
    found = hindrance([outcome("a", "unsealed"), outcome("b", "failed")], command="./pants test")
    assert found is not None
    assert found.judgement.verdict == "blocked"
    assert found.gates == ("b",)
