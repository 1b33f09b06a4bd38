"""Gates, tests and cases as sealed, cached test targets. This file only wires."""

from __future__ import annotations

from seatrial_build.rules import (
    attempt_recording,
    explain_edge,
    find_change,
    find_gate_code,
    generate_evals,
    impact,
    infer_case,
    infer_gate,
    judge_case,
    judge_gate,
    map_owners,
    prepare_case,
    prepare_gate,
    prepare_runtime,
    reach_model,
    read_case,
    read_test,
    record,
    seal_process,
    summarize,
    tailor_cases,
    verdict,
)
from seatrial_build.targets import cases, evals, gates

_RULE_MODULES = (
    attempt_recording,
    explain_edge,
    find_change,
    find_gate_code,
    generate_evals,
    impact,
    infer_case,
    infer_gate,
    judge_case,
    judge_gate,
    map_owners,
    prepare_case,
    prepare_gate,
    prepare_runtime,
    reach_model,
    read_case,
    read_test,
    record,
    seal_process,
    summarize,
    tailor_cases,
    verdict,
)


def rules():
    return [rule for module in _RULE_MODULES for rule in module.rules()]


def target_types():
    return [*cases.TARGET_TYPES, *evals.TARGET_TYPES, *gates.TARGET_TYPES]
