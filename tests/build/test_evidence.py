"""The record has the word, and nothing but a record that fits its exit is believed."""

from __future__ import annotations

import json

import pytest
from seatrial_build.core.evidence import judge
from seatrial_build.core.verdicts import EXIT_CODES, Judgement

SEALED = {"sealed": True, "policy": "required"}


def record(verdict: object = "passed", **more: object) -> bytes:
    return json.dumps({"format": 1, "verdict": verdict, "seal": SEALED, **more}).encode()


@pytest.mark.parametrize("verdict", [verdict for verdict in EXIT_CODES if verdict != "blocked"])
def test_a_record_that_fits_its_exit_is_believed(verdict: str) -> None:
    content = record(verdict, reason="why", cure="do")
    assert judge(content, EXIT_CODES[verdict], seal_policy="required") == Judgement(verdict, "why", "do")


def test_no_record_is_broken_also_when_the_exit_was_clean() -> None:
    found = judge(None, 0, seal_policy="required")
    assert found.verdict == "broken"
    assert "no record.json" in found.reason


def test_a_process_that_was_ended_names_the_signal_and_its_timeout() -> None:
    found = judge(None, -15, seal_policy="required", timeout=180)
    assert found.verdict == "broken"
    assert "signal 15" in found.reason and "180 s" in found.reason


@pytest.mark.parametrize("exit_code", [1, 13, 137, -9])
def test_an_exit_that_does_not_fit_the_record_is_broken(exit_code: int) -> None:
    found = judge(record("passed"), exit_code, seal_policy="required")
    assert found.verdict == "broken"
    assert f"exited with {exit_code}" in found.reason


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"format": 2, "verdict": "passed"}', b'{"verdict": "passed"}']
)
def test_what_is_no_record_of_this_format_is_broken(content: bytes) -> None:
    assert judge(content, 0, seal_policy="required").verdict == "broken"


@pytest.mark.parametrize("verdict", ["ok", "blocked", None, 0, ["passed"]])
def test_a_verdict_that_no_process_can_reach_is_broken(verdict: object) -> None:
    assert judge(record(verdict), 0, seal_policy="required").verdict == "broken"


@pytest.mark.parametrize("proof", [None, {}, {"sealed": False}, {"sealed": "yes"}, "sealed"])
def test_a_pass_without_a_proof_of_the_seal_is_broken(proof: object) -> None:
    for policy in ("required", "inherited"):
        assert judge(record("passed", seal=proof), 0, seal_policy=policy).verdict == "broken"


@pytest.mark.parametrize("proof", [SEALED, {**SEALED, "key": "other"}, {**SEALED, "key": None}])
@pytest.mark.parametrize("verdict", ["passed", "failed"])
def test_a_record_of_another_process_is_broken(proof: object, verdict: str) -> None:
    found = judge(record(verdict, seal=proof), EXIT_CODES[verdict], seal_policy="required", key="mine")
    assert found.verdict == "broken"
    assert "another process" in found.reason


def test_a_record_of_the_process_that_was_asked_for_is_believed() -> None:
    content = record("passed", seal={**SEALED, "key": "mine"})
    assert judge(content, 0, seal_policy="required", key="mine").passed
    assert not judge(record("passed", seal={"policy": "off"}), 0, seal_policy="off", key="mine").passed
    assert judge(record("unsealed", seal=None), 16, seal_policy="required", key="mine").verdict == "unsealed"


def test_where_the_seal_is_off_by_choice_no_proof_is_asked_for() -> None:
    assert judge(record("passed", seal={"policy": "off"}), 0, seal_policy="off").passed


def test_what_could_not_be_sealed_needs_no_proof() -> None:
    found = judge(record("unsealed", seal=None, reason="no namespaces"), 16, seal_policy="required")
    assert found == Judgement("unsealed", "no namespaces")
