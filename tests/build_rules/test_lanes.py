"""What the plain run leaves out, and what the stress lane runs, on the real targets of this repository."""

from __future__ import annotations

import pytest
from pants.base.specs import RawSpecs, RecursiveGlobSpec, Specs
from pants.engine.addresses import Addresses
from pants.engine.target import Target
from pants.option.global_options import GlobalOptions

from repository import Repository, real_files, rule_runner
from seatrial_build.core.lanes import LANES
from seatrial_build.rules.case_kinds import KINDS, AnyCase

INTEGRATION = Specs(
    includes=RawSpecs(
        recursive_globs=(RecursiveGlobSpec("evals/integration"),),
        filter_by_global_options=True,
        description_of_origin="the test",
    ),
    ignores=RawSpecs(description_of_origin="the test"),
)
REPEATS = 200
ACTS = ("during:", "on_progress=")
"""What a case in YAML and an eval in Python are written with that act while a turn runs."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(rule_runner(tmp_path_factory.mktemp("pants")), real_files())


def found(house: Repository, *tags: str) -> list[Target]:
    """The targets of the cases that a goal gets by the repository's own options, or by this list of tags."""
    house.configure(*(["--tag=[" + ", ".join(repr(tag) for tag in tags) + "]"] if tags else []))
    return [house.runner.get_target(each) for each in house.runner.request(Addresses, [INTEGRATION])]


def cases(targets: list[Target]) -> list[AnyCase]:
    return [kind.create(target) for target in targets for kind in KINDS if kind.is_applicable(target)]


def acts(content: bytes) -> bool:
    text = content.decode()
    return any(word in text for word in ACTS)


def named(found: list[AnyCase]) -> set[tuple[str, str]]:
    """Each case by its file, and by its function where it has one."""
    return {(case.path, getattr(case, "name", "")) for case in found}


def test_the_plain_run_leaves_out_every_lane_and_nothing_else(house: Repository) -> None:
    house.configure()
    left_out = "-" + ",".join(LANES)
    assert house.runner.request(GlobalOptions, []).tag == (left_out,)
    plain = cases(found(house))
    assert plain and {case.lane for case in plain} == {""}
    assert {case.repeat.value for case in plain} == {None}


def test_the_stress_lane_is_what_acts_while_a_turn_runs_two_hundred_times_beside_a_busy_core(house: Repository) -> None:
    lane = cases(found(house, "stress"))
    assert {(case.lane, case.repeat.value, case.beside_busy_core.value) for case in lane} == {("stress", REPEATS, True)}
    assert len(named(lane)) == len(lane)
    assert named(lane) == {(path, name) for path, name in named(cases(found(house))) if acts(house.text(path))}
