"""Gate: the test rules. What runs an agent is an eval; nothing fakes a model, changes configuration, skips or
sleeps."""

from __future__ import annotations

from pathlib import Path

from rules import conduct, ratchet
from rules.conduct import Breach
from rules.conduct_data import KNOWN
from rules.files import SourceFile, each_tree, nothing_to_check, read
from rules.finding import Finding, hold

LISTS = "tests/structure/rules/conduct_data.py"
FILES = read(Path.cwd(), ["tests", "evals"], (".py",))


def test_both_the_tests_and_the_evals_are_there_to_be_checked() -> None:
    tests = [file for file in FILES if file.path.startswith("tests/") and "/structure/" not in file.path]
    evals = [file for file in FILES if file.path.startswith("evals/")]
    hold("test rules", nothing_to_check(tests, "tests") + nothing_to_check(evals, "evals"))


def test_tests_keep_the_rules_and_the_lists_of_exceptions_only_shrink() -> None:
    breaches: list[Breach] = []

    def collect(file: SourceFile) -> list[Finding]:
        breaches.extend(conduct.check(file))
        return []

    unparsed = each_tree([file for file in FILES if conduct.is_test_code(file.path)], collect)
    hold("test rules", unparsed + ratchet.compare(breaches, KNOWN, LISTS))
