"""What a name in a syntax tree means: local names resolved to the dotted names that they were imported from.

`from time import monotonic as m` makes `m` mean `time.monotonic`; `import datetime as d` makes
`d.datetime.now` mean `datetime.datetime.now`; a plain assignment (`now = datetime.now`) hands the meaning on.
The resolution is by file, not by scope: a name that means a machine's clock anywhere in a file means it
everywhere, which errs on the strict side.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Imported:
    """One imported name in full, and the line of the statement. A star import ends with `.*`."""

    name: str
    line: int


@dataclass
class Names:
    """The imported names of one file. Build it with `Names.of(nodes)` of all nodes of its tree."""

    meaning: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Sequence[ast.AST]) -> Names:
        names = cls()
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or alias.name.split(".")[0]
                    names.meaning[local] = alias.name if alias.asname else local
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    names.meaning[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        names._follow_assignments(nodes)
        return names

    def _follow_assignments(self, nodes: Sequence[ast.AST]) -> None:
        """Repeat until nothing is added, so that a chain of assignments is followed whatever its order in the
        file."""
        pairs = list(_assignments(nodes))
        grew = True
        while grew:
            grew = False
            for target, value in pairs:
                meaning = self.resolve(value)
                if meaning is not None and target not in self.meaning:
                    self.meaning[target] = meaning
                    grew = True

    def resolve(self, node: ast.AST) -> str | None:
        """The dotted name that an expression means, or None: names, attributes and `getattr(x, "constant")`
        are followed."""
        if isinstance(node, ast.Name):
            return self.meaning.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            return None if base is None else f"{base}.{node.attr}"
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
                base = self.resolve(owner)
                return None if base is None else f"{base}.{name}"
        return None


def _assignments(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def imports(nodes: Sequence[ast.AST], package: str = "") -> Iterator[Imported]:
    """Every name that a file imports, in full, wherever the statement stands.

    `package` is the dotted package of the file; relative imports are resolved against it.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
                base = ".".join([*parents, *([base] if base else [])])
            for alias in node.names:
                yield Imported(f"{base}.{alias.name}" if base else alias.name, node.lineno)


def within(name: str, prefix: str) -> bool:
    """True when a dotted name is the prefix or lies below it (`time.sleep` is within `time`, `timeit` is
    not)."""
    return name == prefix or name.startswith(f"{prefix}.")


def first_within(name: str, table: Mapping[str, str]) -> tuple[str, str] | None:
    """The entry of a table of dotted prefixes that a name falls under, with its text."""
    for prefix, text in table.items():
        if within(name, prefix):
            return prefix, text
    return None


def docstring_nodes(nodes: Sequence[ast.AST]) -> frozenset[int]:
    """`id()` of every constant that stands as a statement of its own: docstrings, which nobody executes."""
    return frozenset(
        id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
