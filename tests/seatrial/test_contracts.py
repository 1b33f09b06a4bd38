"""Contract versions are compared by name, and written into a case without touching the rest of it."""

from __future__ import annotations

import pytest
import yaml

from seatrial.cases.contracts import Holder, contract_findings, fixture_holder, with_contracts

CASE = "# why\npurpose: P  # said\nreviewed: 2026-11-30\nreview_by: 2027-05-31\nturns:\n  - a\n"


def whole(versions: dict[str, int]) -> Holder:
    return Holder("case.yaml", versions, cure="record it")


def test_equal_versions_are_no_finding() -> None:
    assert contract_findings({"a": 1, "b": 2}, [whole({"a": 1, "b": 2})]) == ()


def test_another_version_names_both_and_what_to_do() -> None:
    (found,) = contract_findings({"a": 2}, [whole({"a": 1})])
    assert "case.yaml" in found.reason and "a 1" in found.reason and "has 2" in found.reason
    assert found.cure == "record it"


def test_a_contract_that_is_gone_and_one_that_is_new_are_found() -> None:
    gone, new = contract_findings({"new": 1}, [whole({"old": 1})])
    assert "no longer has" in gone.reason and "names no version of contract new" in new.reason


def test_a_fixture_names_only_the_contracts_that_it_was_written_for_and_is_cured_by_a_person() -> None:
    assert contract_findings({"a": 1, "b": 2}, [fixture_holder("f.yaml", {"a": 1})]) == ()
    (found,) = contract_findings({"a": 2, "b": 2}, [fixture_holder("f.yaml", {"a": 1})])
    assert found.cure.startswith("edit: read f.yaml again")


@pytest.mark.parametrize(
    "before",
    [
        CASE,
        CASE.replace("turns:", "contracts: {a: 7, gone: 1}\nturns:"),
        CASE.replace("turns:", "contracts:\n  a: 7\n  gone: 1\nturns:"),
        CASE.replace("turns:", "contracts: {a: 7,\n  gone: 1}\nturns:"),
        CASE + "contracts: {a: 7}\n",
        CASE + "contracts:\n  a: 7\n",
        CASE.replace("\n", "\r\n"),
        CASE.rstrip("\n"),
        "contracts: {}\n" + CASE,
    ],
)
def test_writing_the_versions_changes_nothing_else(before: str) -> None:
    after = with_contracts(before, {"b.c": 2, "a": 1})
    expected = yaml.safe_load(before) | {"contracts": {"a": 1, "b.c": 2}}
    assert yaml.safe_load(after) == expected
    assert "# why" in after and "# said" in after
    assert after.count("contracts") == 1
    assert with_contracts(after, {"b.c": 2, "a": 1}) == after
