"""What holds for every file of the repository: no machine's paths, no registry in a lock, files that a person
can read whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rules.credentials import machine_paths
from rules.files import SourceFile
from rules.finding import Finding

MOST_LINES = 400
SHAPELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
LOCKS = (".lock",)
REQUIREMENTS = (".lock", "requirements.txt", ".in")

_REGISTRY = re.compile(
    r"--(?:extra-)?index-url|--find-links|--trusted-host|(?:^|\s)-[if]\s+\S|https?://\S+", re.IGNORECASE
)


def check(file: SourceFile) -> list[Finding]:
    """All violations that one file's name and text show by themselves."""
    found = [
        finding for number, line in enumerate(file.lines, start=1) for finding in machine_paths(file.path, number, line)
    ]
    found += _registries(file)
    if file.path.endswith(".py"):
        found += _length(file)
    found += _name(file)
    return sorted(set(found))


def _registries(file: SourceFile) -> Iterator[Finding]:
    if not file.path.endswith(REQUIREMENTS):
        return
    why = "which index served a package is each machine's configuration; the hash is what is trusted"
    for number, line in enumerate(file.lines, start=1):
        match = None if line.lstrip().startswith("#") and not file.path.endswith(LOCKS) else _REGISTRY.search(line)
        if match is not None:
            cure = "compile the lock without it: uv pip compile --generate-hashes --no-header --no-annotate …"
            yield Finding(file.path, number, f"names an index: '{match.group().strip()}'", why, cure)


def _length(file: SourceFile) -> Iterator[Finding]:
    if len(file.lines) > MOST_LINES:
        why = "a file holds one concept and can be read whole"
        yield Finding(
            file.path,
            0,
            f"has {len(file.lines)} lines, more than {MOST_LINES}",
            why,
            "give its second concept a file of its own",
        )


def _name(file: SourceFile) -> Iterator[Finding]:
    path = PurePosixPath(file.path)
    names = [*path.parts[:-1], *([path.stem] if path.suffix == ".py" else [])]
    for name in names:
        if name.lower().strip("_") in SHAPELESS:
            why = "a name that fits everything collects everything"
            yield Finding(file.path, 0, f"is named '{name}'", why, "name it by the concept that it holds")


def undocumented(files: Iterable[SourceFile]) -> list[Finding]:
    """Package folders below `src` whose `__init__.py` says nothing, with modules that say nothing either.

    A folder is in order when its `__init__.py` has a docstring, or when each of its other modules has one.
    """
    folders: dict[str, dict[str, SourceFile]] = {}
    for file in files:
        path = PurePosixPath(file.path)
        if path.suffix == ".py":
            folders.setdefault(str(path.parent), {})[path.name] = file
    return sorted(finding for folder, modules in folders.items() for finding in _silent(folder, modules))


def _silent(folder: str, modules: Mapping[str, SourceFile]) -> Iterator[Finding]:
    front = modules.get("__init__.py")
    if front is not None and ast.get_docstring(front.tree):
        return
    others = [file for name, file in modules.items() if name != "__init__.py"]
    silent = [file for file in others if not ast.get_docstring(file.tree)]
    why = "a newcomer opens a folder and has to learn what it is for"
    if not others:
        yield Finding(
            f"{folder}/__init__.py",
            0,
            "is a package that says nothing",
            why,
            "begin it with a docstring: what the package is for",
        )
    for file in silent:
        yield Finding(
            file.path,
            0,
            "has no docstring, nor has its package",
            why,
            "begin it with a docstring: what the module is for",
        )
