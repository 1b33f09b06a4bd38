"""Find the test functions of a Python file, each of which is an eval of its own.

The build reads files with a Python that is older than the one they are written for: what its parser does not
know is found by the lines. Whether a file can be run is not decided here; its own run says so.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Union

FIXTURES = frozenset({"agent", "run"})
"""The arguments by which a test asks for the agent under test."""

NO_FUNCTION = "test_"
"""Stands for the function of a file that has none: it has no target otherwise, and nobody would miss it."""

_BY_LINE = re.compile(r"^(?:async\s+def|def|class)\s+(test_\w+|Test\w*)\s*(?:\(([^)]*)\))?", re.MULTILINE)

_Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]


@dataclass(frozen=True)
class EvalFunction:
    """One test of a file: its name, and what it asks for."""

    name: str
    arguments: tuple[str, ...] = ()


def functions_in(content: bytes) -> tuple[EvalFunction, ...]:
    """Return the tests at the top of a file, by name.

    A class of tests is among them: it is no eval, which its run says; left out, its tests would be missed by nobody.
    """
    try:
        top = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError):
        found = _by_line(content.decode(errors="replace"))
    else:
        found = [_read(node) for node in top if isinstance(node, _DEFINITIONS) and _is_test(node)]
    return tuple(sorted({each.name: each for each in found}.values(), key=lambda each: each.name))


def is_eval(content: bytes) -> bool:
    """Tell whether a file is meant to hold evals: one of its tests asks for the agent."""
    return any(FIXTURES.intersection(function.arguments) for function in functions_in(content))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_test(node: _Definition) -> bool:
    return node.name.startswith("Test" if isinstance(node, ast.ClassDef) else "test_")


def _read(node: _Definition) -> EvalFunction:
    if isinstance(node, ast.ClassDef):
        return EvalFunction(node.name)
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return EvalFunction(node.name, tuple(argument.arg for argument in arguments))


def _by_line(text: str) -> list[EvalFunction]:
    return [
        EvalFunction(found[1], tuple(re.findall(r"(?:^|,)\s*(\w+)", found[2] or "")))
        for found in _BY_LINE.finditer(text)
    ]
