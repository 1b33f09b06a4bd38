"""The import statements of the repository's packages, found by grimp: read from the source, nothing is
imported, no cache is kept."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import grimp
from grimp.exceptions import SourceSyntaxError

from rules.finding import Finding
from rules.rooms import Edge, Package


@dataclass(frozen=True)
class Imports:
    """Every module with the file it lives in, and every import between them and of third parties."""

    modules: tuple[tuple[str, str], ...]
    edges: tuple[Edge, ...]


def present(root: Path, packages: Iterable[Package]) -> tuple[Package, ...]:
    """The packages that exist below the root."""
    return tuple(package for package in packages if (root / package.folder / package.name / "__init__.py").is_file())


def build(root: Path, packages: Iterable[Package]) -> Imports:
    """Read the import statements of all packages together. Raises `SourceSyntaxError` for text that is not
    Python."""
    found = present(root, packages)
    folders = [str(root / package.folder) for package in found]
    before = list(sys.path)
    sys.path[:0] = dict.fromkeys(folders)
    importlib.invalidate_caches()
    try:
        names = [package.name for package in found]
        graph = (
            grimp.build_graph(names[0], *names[1:], include_external_packages=True, cache_dir=None) if names else None
        )
    finally:
        sys.path[:] = before
    if graph is None:
        return Imports((), ())
    paths = {module: _path(root, found, module) for module in graph.modules if not graph.is_module_squashed(module)}
    edges = [
        Edge(importer, imported, path, detail["line_number"])
        for importer, path in paths.items()
        for imported in graph.find_modules_directly_imported_by(importer)
        for detail in graph.get_import_details(importer=importer, imported=imported)
    ]
    return Imports(
        tuple(sorted(paths.items())),
        tuple(sorted(edges, key=lambda edge: (edge.path, edge.line, edge.imported))),
    )


def unparsed(error: SourceSyntaxError, root: Path) -> Finding:
    path = Path(error.filename)
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else error.filename
    return Finding(
        shown,
        error.lineno or 0,
        "is not Python 3.11",
        "what cannot be parsed cannot be checked",
        f"correct the syntax of {shown}",
    )


def _path(root: Path, packages: Iterable[Package], module: str) -> str:
    parts = module.split(".")
    folder = next(package.folder for package in packages if package.name == parts[0])
    base = "/".join([folder, *parts])
    return f"{base}/__init__.py" if (root / base / "__init__.py").is_file() else f"{base}.py"
