"""`./pants tailor` writes the targets of a new folder of cases, and leaves everything else alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pants.core.goals.tailor import TailorGoal

from repository import Repository, rule_runner

DEFAULTS = (
    "__defaults__({(eval_cases, eval_case, eval_tests, eval_test): dict(binding='evals/shop_binding/binding.yaml')})\n"
)
CASE = b"purpose: P\nturns:\n  - send: {web_message: hi}\n"
EVAL = b"async def test_a(run): ...\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(rule_runner(tmp_path_factory.mktemp("pants")), {"evals/BUILD": DEFAULTS.encode()})


def tailor(shop: Repository) -> str:
    done = shop.runner.run_goal_rule(TailorGoal, args=["::"])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_a_new_folder_of_cases_gets_both_targets_also_before_anything_is_recorded(shop: Repository) -> None:
    shop.runner.write_files({"evals/new/a.yaml": CASE, "evals/new/b.yaml": CASE})
    tailor(shop)
    assert shop.text("evals/new/BUILD") == b'eval_cases()\n\nrecordings(\n    name="recordings",\n)\n'
    shop.runner.write_files({"evals/new/b.recording.json": b"{}"})
    assert "evals/new/b.recording.json:recordings" in shop.closure("evals/new/b.yaml")


def test_what_is_owned_gets_no_second_target(shop: Repository) -> None:
    build = b'eval_cases()\n\nrecordings(name="recordings")\n'
    files = {"evals/old/BUILD": build, "evals/old/a.yaml": CASE, "evals/old/a.recording.json": b"{}"}
    shop.runner.write_files(files)
    tailor(shop)
    assert shop.text("evals/old/BUILD") == build


def test_a_folder_that_has_only_its_cases_gets_the_recordings(shop: Repository) -> None:
    shop.runner.write_files({"evals/older/BUILD": b"eval_cases()\n", "evals/older/a.yaml": CASE})
    shop.runner.write_files({"evals/older/a.recording.json": b"{}"})
    tailor(shop)
    assert shop.text("evals/older/BUILD") == b'eval_cases()\n\nrecordings(\n    name="recordings",\n)\n'


def test_a_new_folder_of_python_evals_gets_both_targets(shop: Repository) -> None:
    shop.runner.write_files({"evals/python/test_a.py": EVAL, "evals/python/help.py": EVAL})
    tailor(shop)
    assert shop.text("evals/python/BUILD") == b'eval_tests()\n\nrecordings(\n    name="recordings",\n)\n'


def test_a_folder_of_both_kinds_names_the_second(shop: Repository) -> None:
    shop.runner.write_files({"evals/both/test_a.py": EVAL, "evals/both/a.yaml": CASE})
    tailor(shop)
    assert b'eval_tests(\n    name="python",\n)' in shop.text("evals/both/BUILD")
    assert b"eval_cases()" in shop.text("evals/both/BUILD")


def test_a_test_that_runs_no_agent_is_no_eval(shop: Repository) -> None:
    shop.runner.write_files({"tests/plain/test_a.py": b"def test_a(tmp_path): ...\n"})
    tailor(shop)
    assert not Path(shop.runner.build_root, "tests/plain/BUILD").exists()


@pytest.mark.parametrize("text", [b"display_name: Acme\n", b"- turns\n", b"turns: [", b"", b"turns:\n"])
def test_yaml_that_sends_nothing_is_no_case(shop: Repository, text: bytes) -> None:
    shop.runner.write_files({"evals/fixtures/acme.yaml": text})
    tailor(shop)
    assert not Path(shop.runner.build_root, "evals/fixtures/BUILD").exists()
