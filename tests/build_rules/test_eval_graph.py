"""What an eval in Python depends on, function by function, in a small invented repository."""

from __future__ import annotations

import pytest
from pants.backend.project_info.dependents import Dependents, DependentsRequest
from pants.engine.addresses import Address
from pants.engine.internals.graph import Owners, OwnersRequest
from pants.engine.target import Dependencies, DependenciesRequest, Targets, TransitiveTargets, TransitiveTargetsRequest

from repository import Repository, rule_runner
from seatrial_build.rules.case_kinds import EvalTestFieldSet
from seatrial_build.rules.prepare_case import CaseParts, CasePartsRequest

BINDING = """\
binding: shop_binding.drive:ShopBinding
root: evals
default: {plugins: [till]}
plugins: {till: shop.till, stock: [shop.stock, shop_binding.stock_setup]}
plugin_gates: {stock: ["//tests:stock"]}
"""
OPEN = b"""\
import shop_words

async def test_opens(run): ...

async def test_closes(run): ...
"""
NEWER = b"async def test_newer(run):\n    match 1:\n        case 1: ...\n"
FILES = {
    "src/shop/BUILD": "python_sources()",
    "src/shop/till.py": "",
    "src/shop/stock.py": "",
    "src/shop_words.py": "",
    "src/BUILD": "python_sources()",
    "src/seatrial/BUILD": "python_sources()",
    "src/seatrial/pytest_run.py": "",
    "evals/BUILD": """
__defaults__({(eval_tests, eval_test): dict(binding="evals/shop_binding/binding.yaml", gates=["//tests:layers"])})
files(name="fixtures", sources=["fixtures/*.json"])
""",
    "evals/shop_binding/BUILD": "python_sources()\nfiles(name='binding', sources=['binding.yaml'])",
    "evals/shop_binding/drive.py": "",
    "evals/shop_binding/stock_setup.py": "",
    "evals/shop_binding/binding.yaml": BINDING,
    "evals/shop/BUILD": """
eval_tests(
    overrides={
        "test_hours.py": {"timeout": 60},
        "test_hours.py/test_closes": {"plugins": ["stock"], "reads": ["evals/fixtures/*.json"]},
    },
)
eval_tests(name="stress", sources=["test_hours.py"], tags=["stress"], repeat=200, beside_busy_core=True)
recordings(name="recordings")
""",
    "evals/shop/test_hours.py": OPEN,
    "evals/shop/test_newer.py": NEWER,
    "evals/shop/test_empty.py": b"",
    "evals/shop/test_hours.test_opens.recording.json": "{}",
    "evals/fixtures/acme.json": "{}",
    "tests/BUILD": """
structure_gates(name='layers', sources=['test_layers.py'])
unit_tests(name='older', sources=['test_older.py'], interpreter_constraints=["CPython==3.9.*"], reads=["src/**/*.py"])
""",
    "tests/test_layers.py": "",
    "tests/test_older.py": "",
    "build-support/seal/BUILD": "files(sources=['*.py'])",
    "build-support/seal/seal.py": "",
}
ALWAYS = {
    "build-support/seal/seal.py",
    "evals/shop_binding/binding.yaml:binding",
    "evals/shop_binding/drive.py",
    "src/seatrial/pytest_run.py",
    "src/shop_words.py",
}
OPENS, CLOSES = "evals/shop#test_hours.py/test_opens", "evals/shop#test_hours.py/test_closes"
RECORDING = "evals/shop/test_hours.test_opens.recording.json"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    files = {path: text if isinstance(text, bytes) else text.encode() for path, text in FILES.items()}
    return Repository(rule_runner(tmp_path_factory.mktemp("pants")), files)


def address(spec: str) -> Address:
    folder, _, name = spec.partition("#")
    folder, _, target = folder.partition(":")
    return Address(folder, target_name=target or None, generated_name=name)


def closure(shop: Repository, spec: str) -> set[str]:
    found = shop.runner.request(TransitiveTargets, [TransitiveTargetsRequest([address(spec)])]).dependencies
    return {target.address.spec for target in found}


def affected(shop: Repository, path: str) -> set[str]:
    """The evals that `--changed-since --changed-dependents=transitive` calls affected by this file."""
    owners = shop.runner.request(Owners, [OwnersRequest((path,), match_if_owning_build_file_included_in_sources=True)])
    found = shop.runner.request(Dependents, [DependentsRequest(owners, transitive=True, include_roots=True)])
    targets = [shop.runner.get_target(each) for each in found]
    return {each.address.spec for each in targets if each.alias == "eval_test" and each.address.target_name == "shop"}


def parts(shop: Repository, spec: str) -> CaseParts:
    field_set = EvalTestFieldSet.create(shop.runner.get_target(address(spec)))
    return shop.runner.request(CaseParts, [CasePartsRequest(field_set)])


def test_each_function_is_a_target_and_a_file_without_one_is_not_lost(shop: Repository) -> None:
    generator = shop.runner.get_target(Address("evals/shop"))
    made = shop.runner.request(Targets, [DependenciesRequest(generator.get(Dependencies))])
    assert {each.address.spec for each in made if each.alias == "eval_test"} == {
        OPENS,
        CLOSES,
        "evals/shop#test_newer.py/test_newer",
        "evals/shop#test_empty.py/test_",
    }


def test_an_eval_depends_on_the_default_composition_its_imports_and_its_own_recording(shop: Repository) -> None:
    assert closure(shop, OPENS) == ALWAYS | {
        "src/shop/till.py",
        f"{RECORDING}:recordings",
    }


def test_the_fields_of_a_function_come_before_those_of_its_file(shop: Repository) -> None:
    found = closure(shop, CLOSES)
    assert {"src/shop/stock.py", "evals/shop_binding/stock_setup.py", "evals/fixtures/acme.json:../fixtures"} <= found
    assert "src/shop/till.py" not in found
    assert f"{RECORDING}:recordings" in found  # the generator's file, for the one that will be made
    closes, opens = (EvalTestFieldSet.create(shop.runner.get_target(address(spec))) for spec in (CLOSES, OPENS))
    assert (closes.timeout.value, closes.plugins.value, opens.plugins.value) == (60, ("stock",), None)
    assert (closes.gates.value, closes.repeat.value) == (("//tests:layers",), None)


def test_functions_of_one_composition_share_their_code_and_none_has_what_is_anothers(shop: Repository) -> None:
    opens, closes, newer = (parts(shop, spec) for spec in (OPENS, CLOSES, "evals/shop#test_newer.py/test_newer"))
    stress = parts(shop, "evals/shop:stress#test_hours.py/test_opens")
    assert opens.code == stress.code and opens.inputs == stress.inputs
    assert stress.words == (*opens.words, """--command=./pants --tag="['stress']\"""")
    assert {each.spec for each in opens.code} - {each.spec for each in newer.code} == {"src/shop_words.py"}
    assert opens.words == ("evals/shop/test_hours.py", "--function=test_opens", "--plugins=till")
    assert closes.words == ("evals/shop/test_hours.py", "--function=test_closes", "--plugins=stock")
    assert shop.files(opens.inputs) == {
        "evals/shop/test_hours.py",
        "evals/shop_binding/binding.yaml",
        RECORDING,
    }
    assert shop.files(closes.inputs) == {
        "evals/shop/test_hours.py",
        "evals/shop_binding/binding.yaml",
        "evals/fixtures/acme.json",
    }


@pytest.mark.parametrize(
    ("path", "reached"),
    [
        ("evals/shop/test_hours.py", {OPENS, CLOSES}),
        ("src/shop_words.py", {OPENS, CLOSES}),
        ("src/shop/stock.py", {CLOSES}),
        ("evals/fixtures/acme.json", {CLOSES}),
        ("tests/test_layers.py", set()),
    ],
)
def test_an_edit_reaches_the_functions_that_use_it(shop: Repository, path: str, reached: set[str]) -> None:
    assert affected(shop, path) == reached


def test_a_recording_reaches_its_function_and_those_that_have_none_yet(shop: Repository) -> None:
    assert OPENS in affected(shop, RECORDING)
    before = {spec: parts(shop, spec).inputs for spec in (OPENS, CLOSES)}
    with shop.edited(RECORDING, b'{"edited": 1}'):
        assert [parts(shop, spec).inputs != inputs for spec, inputs in before.items()] == [True, False]
    with shop.edited(RECORDING, None):
        assert OPENS in affected(shop, RECORDING)
        assert RECORDING not in shop.files(parts(shop, OPENS).inputs)


def test_a_gate_for_another_python_may_read_what_it_cannot_run(shop: Repository) -> None:
    owners = shop.runner.request(Owners, [OwnersRequest(("src/shop/till.py",))])
    found = shop.runner.request(Dependents, [DependentsRequest(owners, transitive=True, include_roots=False)])
    assert "tests/test_older.py:older" in {each.spec for each in found}


@pytest.mark.parametrize("key", ["test_hour.py", "test_hours.py/test_open"])
def test_fields_for_what_is_not_there_are_refused_with_what_there_is(shop: Repository, key: str) -> None:
    shop.runner.write_files(
        {"evals/odd/BUILD": f"eval_tests(overrides={{'{key}': {{'timeout': 9}}}})", "evals/odd/test_hours.py": OPEN}
    )
    with pytest.raises(Exception, match=f"has '{key}', and there is no such.*test_hours.py/test_opens"):
        shop.runner.get_target(address("evals/odd#test_hours.py/test_opens"))
