"""Imports by name (`importlib.import_module`, `__import__`): doors that the import graph does not show."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rules.files import SourceFile
from rules.finding import Finding
from rules.names import within

LOADERS = frozenset({"importlib.import_module", "importlib.__import__", "runpy.run_module", "pkgutil.resolve_name"})
WHY = "an import by name passes the layers unseen"


def check(file: SourceFile, allowed: Mapping[str, str]) -> list[Finding]:
    """All imports by name in a module that has no permission for them."""
    if any(within(file.module, module) for module in allowed):
        return []
    names = file.names
    found: list[Finding] = []
    for node in file.nodes:
        if isinstance(node, ast.Call):
            plain = node.func.id if isinstance(node.func, ast.Name) else ""
            called = "__import__" if plain == "__import__" else names.resolve(node.func)
            if called in LOADERS or called == "__import__":
                cure = "import it by a statement, or have it given by the place of composition"
                found.append(Finding(file.path, node.lineno, f"calls {called}", WHY, cure))
    return found
