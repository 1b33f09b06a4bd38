"""The repository's files as a gate sees them: text at a path relative to the root.

A gate runs with the repository's root as working directory, in a sandbox that holds just what its target says
it reads, or in a checkout, where build output and caches lie about: hidden folders, caches and `dist` are
never the project's own text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rules.finding import Finding
from rules.names import Names

NOT_OURS = frozenset({"__pycache__", "dist", "node_modules"})
HIDDEN_BUT_OURS = frozenset({".ci", ".github"})


@dataclass(frozen=True)
class SourceFile:
    """One file: its path from the repository's root (with `/`), and its text."""

    path: str
    text: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        """Raises SyntaxError for text that is not Python; `each_tree` turns that into a finding."""
        return ast.parse(self.text, filename=self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree: rules are many, and one walk is enough."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def names(self) -> Names:
        return Names.of(self.nodes)

    @property
    def module(self) -> str:
        """The dotted name below the path's first folder: `src/bosun/log/store.py` is `bosun.log.store`."""
        parts = self.path.removesuffix(".py").split("/")[1:]
        return ".".join(parts[:-1] if parts[-1:] == ["__init__"] else parts)


def read(root: Path, folders: Iterable[str], suffixes: tuple[str, ...] | None = None) -> tuple[SourceFile, ...]:
    """Every text file below the folders, sorted by path; bytes that are not UTF-8 are not text and are left
    out.

    `suffixes` is a tuple of endings such as ".py"; None means every file.
    """
    found: list[SourceFile] = []
    for folder in folders:
        for path in _walk(root / folder):
            if suffixes is not None and not path.name.endswith(suffixes):
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            found.append(SourceFile(path.relative_to(root).as_posix(), text))
    return tuple(sorted(found, key=lambda file: file.path))


def top_level(root: Path) -> tuple[SourceFile, ...]:
    """The text files directly in the repository's root (hidden ones left out)."""
    names = sorted(path.name for path in root.iterdir() if path.is_file() and not path.name.startswith("."))
    return tuple(SourceFile(name, (root / name).read_text(encoding="utf-8", errors="replace")) for name in names)


def _walk(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name not in HIDDEN_BUT_OURS
            if path.name not in NOT_OURS and not hidden:
                yield from _walk(path)
        elif path.is_file():
            yield path


def nothing_to_check(files: Iterable[SourceFile], wanted: str) -> list[Finding]:
    """A gate that sees no files proves nothing: that is a violation and not a pass."""
    if any(True for _ in files):
        return []
    return [
        Finding(
            wanted,
            0,
            "holds no file that this gate could check",
            "a gate that read nothing would pass whatever the code does",
            "add the folder to `reads` of the gate's target in tests/structure/BUILD",
        )
    ]


def parse(file: SourceFile) -> list[Finding]:
    """A checker that only parses: with `each_tree`, it names the files that are not Python."""
    ast.parse(file.text, filename=file.path)
    return []


def each_tree(files: Iterable[SourceFile], check: Callable[[SourceFile], Iterable[Finding]]) -> list[Finding]:
    """Apply a checker of syntax trees to each file; a file that does not parse is a finding of its own."""
    found: list[Finding] = []
    for file in files:
        try:
            found += check(file)
        except SyntaxError as error:
            found.append(
                Finding(
                    file.path,
                    error.lineno or 0,
                    f"is not Python 3.11: {error.msg}",
                    "what cannot be parsed cannot be checked",
                    f"correct the syntax; see it with: python -m py_compile {file.path}",
                )
            )
    return found
