"""The import graph of a small repository on disk: what stands in the source is found, and nothing is imported
or written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from grimp.exceptions import SourceSyntaxError
from rules import import_graph
from rules.rooms import Edge, Package

PACKAGES = (
    Package("fair", "src", (), ""),
    Package("fair_binding", "evals", (), ""),
    Package("not_there", "src", (), ""),
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    texts = {
        "src/fair/__init__.py": "",
        "src/fair/tent/__init__.py": "raise AssertionError('imported')\n",
        "src/fair/tent/pole.py": "import httpx.content\n\ndef f() -> None:\n    from fair.rope import knot\n",
        "src/fair/rope.py": "from .tent import pole\nknot = 1\n",
        "evals/fair_binding/__init__.py": "import typing\nif typing.TYPE_CHECKING:\n    import fair.rope\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_imports_of_every_kind_are_found_with_file_and_line(repository: Path) -> None:
    edges = set(import_graph.build(repository, PACKAGES).edges)
    assert {
        Edge("fair.tent.pole", "httpx", "src/fair/tent/pole.py", 1),
        Edge("fair.tent.pole", "fair.rope", "src/fair/tent/pole.py", 4),
        Edge("fair.rope", "fair.tent.pole", "src/fair/rope.py", 1),
        Edge("fair_binding", "fair.rope", "evals/fair_binding/__init__.py", 3),
    } <= edges


def test_every_module_is_listed_with_its_file_and_third_parties_are_not(repository: Path) -> None:
    assert import_graph.build(repository, PACKAGES).modules == (
        ("fair", "src/fair/__init__.py"),
        ("fair.rope", "src/fair/rope.py"),
        ("fair.tent", "src/fair/tent/__init__.py"),
        ("fair.tent.pole", "src/fair/tent/pole.py"),
        ("fair_binding", "evals/fair_binding/__init__.py"),
    )


def test_nothing_is_imported_and_no_cache_is_left(repository: Path) -> None:
    before, path = set(repository.rglob("*")), list(sys.path)
    import_graph.build(repository, PACKAGES)
    assert set(repository.rglob("*")) == before
    assert sys.path == path
    assert "fair" not in sys.modules


def test_a_file_that_does_not_parse_is_a_finding_with_its_line(repository: Path) -> None:
    (repository / "src/fair/rope.py").write_text("knot = 1\nknot knot\n")
    with pytest.raises(SourceSyntaxError) as caught:
        import_graph.build(repository, PACKAGES)
    assert import_graph.unparsed(caught.value, repository).address == "src/fair/rope.py:2"


def test_a_repository_without_packages_has_no_imports(tmp_path: Path) -> None:
    assert import_graph.build(tmp_path, PACKAGES).edges == ()
    assert import_graph.present(tmp_path, PACKAGES) == ()
