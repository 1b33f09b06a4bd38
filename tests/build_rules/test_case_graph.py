"""What a case depends on, in a small invented repository."""

from __future__ import annotations

import pytest

from repository import Repository, rule_runner
from seatrial_build.rules.read_case import Composition, CompositionRequest

BINDING = """\
binding: shop_binding.drive:ShopBinding
root: evals
default: {plugins: [till]}
plugins: {till: shop.till, stock: [shop.stock, shop_binding.stock_setup], gone: nowhere.gone}
plugin_gates: {stock: ["//tests:stock", "//tests:shelves"]}
"""
FILES = {
    "src/shop/BUILD": "python_sources()",
    "src/shop/__init__.py": "",
    "src/shop/app.py": "import shop.till",
    "src/shop/till.py": "",
    "src/shop/stock.py": "import shop.shelves",
    "src/shop/shelves.py": "",
    "src/seatrial/cases/BUILD": "python_sources()",
    "src/seatrial/cases/run.py": "",
    "evals/BUILD": """
__defaults__({(eval_cases, eval_case): dict(binding="evals/shop_binding/binding.yaml", gates=["//tests:layers"])})
files(name="fixtures", sources=["fixtures/*.yaml"])
""",
    "evals/shop_binding/BUILD": "python_sources()\nfiles(name='binding', sources=['binding.yaml'])",
    "evals/shop_binding/drive.py": "import shop.app",
    "evals/shop_binding/stock_setup.py": "",
    "evals/shop_binding/binding.yaml": BINDING,
    "evals/cases/BUILD": "eval_cases()\nrecordings(name='recordings')",
    "evals/cases/plain.yaml": "agent: {plugins: []}\nsnapshot: fixtures/acme.yaml",
    "evals/cases/plain.recording.json": "{}",
    "evals/cases/by_default.yaml": "purpose: P",
    "evals/cases/stocked.yaml": "agent: {plugins: [stock, unheard_of, gone]}\nsnapshot: fixtures/acme.yaml",
    "evals/cases/astray.yaml": "agent: {plugins: []}\nsnapshot: fixtures/lost.yaml",
    "evals/cases/damaged.yaml": "agent: {plugins: [",
    "evals/fixtures/acme.yaml": "name: Acme",
    "evals/fixtures/other.yaml": "name: Other",
    "tests/BUILD": "structure_gates(name='layers', sources=['test_layers.py'])",
    "tests/test_layers.py": "import shop.app",
    "build-support/seal/BUILD": "files(sources=['*.py'])",
    "build-support/seal/seal.py": "",
}
ALWAYS = {
    "build-support/seal/seal.py",
    "evals/shop_binding/binding.yaml:binding",
    "evals/shop_binding/drive.py",
    "src/seatrial/cases/run.py",
    "src/shop/app.py",
    "src/shop/till.py",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    files = {path: text.encode() for path, text in FILES.items()}
    return Repository(rule_runner(tmp_path_factory.mktemp("pants")), files)


def test_a_case_depends_on_the_binding_the_runner_the_seal_and_what_it_names(shop: Repository) -> None:
    assert {*shop.closure("evals/cases/plain.yaml")} == ALWAYS | {
        "evals/cases/plain.yaml",
        "evals/cases/plain.recording.json:recordings",
        "evals/fixtures/acme.yaml:../fixtures",
    }


def test_a_plugin_brings_each_of_its_modules_and_what_is_unknown_brings_nothing(shop: Repository) -> None:
    code = {spec for spec in shop.closure("evals/cases/stocked.yaml") if spec.endswith(".py")}
    assert code - ALWAYS == {"evals/shop_binding/stock_setup.py", "src/shop/shelves.py", "src/shop/stock.py"}


def test_a_case_that_names_no_composition_has_the_bindings_default(shop: Repository) -> None:
    asked = CompositionRequest("evals/shop_binding/binding.yaml", None)
    code = {address.spec for address in shop.runner.request(Composition, [asked]).code}
    assert code == {"evals/shop_binding/drive.py", "src/seatrial/cases/run.py", "src/shop/till.py"}


def test_a_plugins_gates_are_asked_for_by_address_and_are_no_dependencies(shop: Repository) -> None:
    asked = CompositionRequest("evals/shop_binding/binding.yaml", ("stock",))
    assert shop.runner.request(Composition, [asked]).gates == ("//tests:stock", "//tests:shelves")
    assert not [spec for spec in shop.closure("evals/cases/stocked.yaml") if "tests" in spec]
    assert shop.affected("tests/test_layers.py") == set()


def test_a_case_hangs_on_whoever_would_own_a_file_that_is_missing(shop: Repository) -> None:
    assert "evals/cases/astray.yaml" in shop.affected("evals/fixtures/other.yaml")
    assert "evals/cases/by_default.yaml" in shop.affected("evals/cases/plain.recording.json")
    assert "evals/cases/plain.yaml" not in shop.affected("evals/fixtures/other.yaml")


def test_a_case_that_cannot_be_read_still_has_the_binding_and_its_default(shop: Repository) -> None:
    assert {*shop.closure("evals/cases/damaged.yaml")} > ALWAYS


def test_a_case_without_a_binding_is_refused_with_the_fields_name(shop: Repository) -> None:
    shop.runner.write_files({"loose/BUILD": "eval_cases()", "loose/a.yaml": "purpose: P"})
    with pytest.raises(Exception, match="'binding' field in target"):
        shop.target("loose/a.yaml")
