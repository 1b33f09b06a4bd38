"""Which cases an edit reaches, on the real sources and cases of this repository: those whose process gets other
inputs, and those that `impact` names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from repository import ROOT, Inputs, Repository, real_files, rule_runner

CASES = "evals/integration"
BINDING = "evals/bosun_binding/binding.yaml"
PLUGINS = "src/bosun/plugins"

# A plugin that is in no release, beside the real ones: made of several modules, and of one in the binding.
INVENTED = "lantern"
INVENTED_MODULES = [f"bosun.plugins.{INVENTED}", f"bosun_binding.{INVENTED}_setup"]
INVENTED_FILES = {
    f"{PLUGINS}/{INVENTED}/BUILD": b"python_sources()\n",
    f"{PLUGINS}/{INVENTED}/__init__.py": b"from bosun.plugins.lantern.tools import light\n",
    f"{PLUGINS}/{INVENTED}/tools.py": b"from bosun.plugins.lantern import store\nlight = 'Light the lantern.'\n",
    f"{PLUGINS}/{INVENTED}/store.py": b"from sqlalchemy import text\nOIL = text('SELECT 1')\n",
    f"evals/bosun_binding/{INVENTED}_setup.py": b"from bosun.plugins.lantern.store import OIL\n",
}


def modules_by_plugin(binding: bytes) -> dict[str, list[str]]:
    told = yaml.safe_load(binding)["plugins"]
    return {name: [modules] if isinstance(modules, str) else modules for name, modules in told.items()}


REAL = modules_by_plugin((ROOT / BINDING).read_bytes())
NAMES = sorted([*REAL, INVENTED])


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """This repository, with the invented plugin, and for each plugin two cases that are composed with it."""
    files = real_files() | INVENTED_FILES
    binding = yaml.safe_load(files[BINDING])
    binding["plugins"][INVENTED] = INVENTED_MODULES
    files[BINDING] = yaml.safe_dump(binding).encode()
    for plugins in ([], *([name] for name in NAMES), NAMES):
        name = "_and_".join(plugins) or "nothing"
        fixture = f"fixtures/invented/{name}.yaml"
        case = {"purpose": "P", "snapshot": fixture, "agent": {"plugins": plugins}}
        files[f"{CASES}/with_{name}.yaml"] = yaml.safe_dump(case).encode()
        files[f"{CASES}/with_{name}.recording.json"] = b"{}\n"
        files[f"evals/{fixture}"] = b"name: Acme\n"
    return Repository(rule_runner(tmp_path_factory.mktemp("pants")), files)


@pytest.fixture(scope="module")
def cases(house: Repository) -> dict[str, dict[str, object]]:
    """Every case as it is written, by its path."""
    found = {}
    for build in sorted(Path(house.runner.build_root, "evals").glob("*/BUILD")):
        if "eval_cases(" in build.read_text(encoding="utf-8"):
            for path in sorted(build.parent.glob("*.yaml")):
                found[path.relative_to(house.runner.build_root).as_posix()] = yaml.safe_load(path.read_bytes())
    return found


@pytest.fixture(scope="module")
def before(house: Repository, cases: dict[str, dict[str, object]]) -> dict[str, Inputs]:
    return {case: house.inputs(case) for case in cases}


Reach = Callable[..., "set[str]"]


@pytest.fixture
def reach(house: Repository, before: dict[str, Inputs]) -> Iterator[Reach]:
    """Edit a file, and return the cases whose process would get other inputs."""

    def reached(path: str, content: bytes | None = None) -> set[str]:
        with house.edited(path, house.text(path) + b"\n# edited\n" if content is None else content):
            return {case for case, inputs in before.items() if house.inputs(case) != inputs}

    yield reached
    assert {case: house.inputs(case) for case in before} == before


def composed_with(plugin: str, cases: dict[str, dict[str, object]], default: list[str]) -> set[str]:
    found = set()
    for path, case in cases.items():
        agent = case.get("agent")
        plugins = agent.get("plugins", default) if isinstance(agent, dict) else default
        if plugin in plugins:
            found.add(path)
    return found


def files_of(plugin: str, house: Repository) -> list[str]:
    """The files of a plugin: its package, and what the binding has for it."""
    modules = INVENTED_MODULES if plugin == INVENTED else REAL[plugin]
    found = []
    for module in modules:
        for root in ("src", "evals"):
            path = Path(house.runner.build_root, root, *module.split("."))
            found += (
                path.rglob("*.py") if path.is_dir() else [file for file in [path.with_suffix(".py")] if file.exists()]
            )
    return sorted(path.relative_to(house.runner.build_root).as_posix() for path in found)


@pytest.mark.parametrize("plugin", NAMES)
def test_a_module_of_a_plugin_reaches_the_cases_composed_with_it_and_no_other(
    plugin: str, house: Repository, cases: dict[str, dict[str, object]], reach: Reach
) -> None:
    default = yaml.safe_load(house.text(BINDING))["default"]["plugins"]
    expected = composed_with(plugin, cases, default)
    files = files_of(plugin, house)
    assert len(files) > 1 and len(expected) > 1
    assert f"{CASES}/with_nothing.yaml" not in expected
    for path in files:
        assert (path, reach(path)) == (path, expected)
        assert (path, house.affected(path)) == (path, expected)


@pytest.mark.parametrize(
    "path",
    [
        "src/bosun/app.py",
        "src/bosun/context/assembler.py",
        "src/bosun/plugins/__init__.py",
        "src/bosun/stores/migrations/env.py",
        "src/bosun/turn/engine.py",
        "src/embedded_services/cluster.py",
        "src/seatrial/busy_core.py",
        "src/seatrial/cases/run.py",
        "src/seatrial/gateway/replay.py",
        "evals/bosun_binding/binding.py",
        "evals/bosun_binding/binding.yaml",
        "build-support/seal/seal.py",
    ],
)
def test_what_every_case_runs_reaches_every_case(
    path: str, house: Repository, cases: dict[str, dict[str, object]], reach: Reach
) -> None:
    assert reach(path) == {*cases}
    assert house.affected(path) == {*cases}


@pytest.mark.parametrize(
    "path",
    [
        "src/bosun/serve.py",
        "src/bosun/settings.py",
        "src/seatrial/pytest_plugin.py",
        "src/seatrial/pytest_run.py",
        "src/seatrial/model_server/app.py",
        "build-support/launcher/install.py",
        "mypy.ini",
    ],
)
def test_what_no_case_runs_reaches_none(path: str, house: Repository, reach: Reach) -> None:
    assert reach(path) == set()
    assert house.affected(path) == set()


@pytest.mark.parametrize("path", ["evals/BUILD", f"{CASES}/BUILD"])
def test_an_edited_build_file_names_what_it_gives_its_fields_to(
    path: str, house: Repository, cases: dict[str, dict[str, object]], reach: Reach
) -> None:
    assert reach(path) == set()
    folder = path.rpartition("/")[0]
    assert house.affected(path) == {case for case in cases if case.startswith(f"{folder}/")}


LOCK = "3rdparty/python.lock"


@pytest.mark.parametrize(
    ("package", "reached"), [("sqlalchemy", True), ("grimp", False), ("mypy", False), ("anyio", True)]
)
def test_another_version_of_a_package_reaches_who_asks_for_it_or_for_what_may_need_it(
    package: str, reached: bool, house: Repository, cases: dict[str, dict[str, object]]
) -> None:
    before = house.text(LOCK).decode()
    assert f"\n{package}==" in before
    after = before.replace(f"\n{package}==", f"\n{package}==0.")
    with house.edited(LOCK, after.encode()):
        assert house.affected(LOCK, before=before) == ({*cases} if reached else set())


def test_a_lock_that_was_written_again_with_the_same_versions_reaches_nothing(house: Repository) -> None:
    before = house.text(LOCK).decode()
    with house.edited(LOCK, f"# Written again.\n{before}".encode()):
        assert house.affected(LOCK, before=before) == set()


@pytest.mark.parametrize("path", ["pants.toml", "build-support/pants-plugins/seatrial_build/core/evidence.py"])
def test_what_shapes_every_process_is_looked_at_again_and_is_no_input(
    path: str, house: Repository, cases: dict[str, dict[str, object]], reach: Reach
) -> None:
    assert reach(path) == set()
    assert house.affected(path) == {*cases}


@pytest.mark.parametrize("case", ["recall_from_history", "with_nothing", f"with_{INVENTED}"])
def test_a_case_its_recording_and_its_fixture_reach_those_alone_that_hold_or_name_them(
    case: str, house: Repository, cases: dict[str, dict[str, object]], reach: Reach
) -> None:
    path, recording = f"{CASES}/{case}.yaml", f"{CASES}/{case}.recording.json"
    fixture = cases[path]["snapshot"]
    expected = {other for other, told in cases.items() if told.get("snapshot") == fixture}
    assert path in expected
    for edited, reached in ((path, {path}), (recording, {path}), (f"evals/{fixture}", expected)):
        assert (edited, reach(edited)) == (edited, reached)
        assert (edited, house.affected(edited)) == (edited, reached)


@pytest.mark.parametrize("what", ["recording", "fixture"])
def test_what_was_taken_away_still_reaches_its_case(what: str, house: Repository, cases: dict[str, object]) -> None:
    path = {
        "recording": f"{CASES}/with_nothing.recording.json",
        "fixture": "evals/fixtures/invented/nothing.yaml",
    }[what]
    case = f"{CASES}/with_nothing.yaml"
    was = house.inputs(case)
    with house.edited(path, None):
        assert house.inputs(case) != was
        assert case in house.affected(path)
    assert house.inputs(case) == was


def test_a_case_that_cannot_be_read_harms_no_other(reach: Reach, house: Repository) -> None:
    path = f"{CASES}/with_nothing.yaml"
    assert reach(path, b"agent: [\n") == {path}
    with house.edited(path, b"agent: [\n"):
        assert house.affected("src/bosun/turn/engine.py") >= {path, f"{CASES}/with_{INVENTED}.yaml"}


def test_another_version_of_what_only_tests_need_is_no_input_of_a_case(before: dict[str, Inputs]) -> None:
    names = {requirement.partition(">")[0].partition("=")[0] for i in before.values() for requirement in i.requirements}
    assert "sqlalchemy[asyncio]" in names
    assert not names & {"grimp", "hypothesis", "import-linter", "mypy", "pytest", "pytest-asyncio"}


def test_cases_of_one_composition_share_their_code_and_no_case_has_the_code_of_a_plugin_it_does_not_name(
    before: dict[str, Inputs],
) -> None:
    bare = before[f"{CASES}/with_nothing.yaml"]
    one = before[f"{CASES}/with_{INVENTED}.yaml"]
    more = before[f"{CASES}/with_{'_and_'.join(NAMES)}.yaml"]
    assert bare.sources != one.sources
    assert (one.sources == more.sources) is (NAMES == [INVENTED])
    assert bare.own != one.own
