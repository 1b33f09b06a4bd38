"""Which verdict wins, and that its exit code is the largest where it matters most."""

from __future__ import annotations

import itertools

import pytest

from seatrial.verdict import Cause, Finding, Verdict, decide

PRECEDENCE = [
    Cause.UNSEALED,
    Cause.INVALID,
    Cause.CONTRACT_DIFFERS,
    Cause.UNRECORDED,
    Cause.BROKEN,
    Cause.FAILED,
    Cause.RECORDING_UNUSED,
]


def test_exit_codes_are_those_that_the_build_reads() -> None:
    assert {verdict.value: verdict.exit_code for verdict in Verdict} == {
        "passed": 0,
        "blocked": 10,
        "stale": 11,
        "unrecorded": 12,
        "failed": 13,
        "broken": 14,
        "invalid": 15,
        "unsealed": 16,
    }


def test_nothing_found_is_a_pass() -> None:
    assert decide(()) == (Verdict.PASSED, None)


@pytest.mark.parametrize(("winner", "loser"), list(itertools.combinations(PRECEDENCE, 2)))
def test_the_cause_with_precedence_decides_in_either_order(winner: Cause, loser: Cause) -> None:
    a, b = Finding(winner, "a"), Finding(loser, "b")
    assert decide((a, b)) == decide((b, a)) == (winner.verdict, a)


def test_of_equal_causes_the_first_decides() -> None:
    first, second = Finding(Cause.FAILED, "first"), Finding(Cause.FAILED, "second")
    assert decide((first, second))[1] is first
