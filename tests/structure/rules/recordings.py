"""Recordings beside their cases: none without a case, none too large, each one JSON of a known format.

A recording's name says whose it is: `<case>.recording.json` beside `<case>.yaml`; for a Python eval
`<file>.<function>.recording.json`; a further trial n > 0 has `.trial-<n>` before `.recording.json`. Whether
the words fit their digests is checked by each case at its load.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from rules.files import SourceFile
from rules.finding import Finding

ENDING = ".recording.json"
FORMATS = (1,)
LARGEST = 8 * 1024 * 1024
"""Bytes. The gateway refuses to load more (`seatrial.gateway.recording.MAX_BYTES`)."""

NOT_CASES = ("evals/fixtures/", "evals/bosun_binding/")
_TRIAL = re.compile(r"\.trial-[1-9]\d*$")


def owner(path: str) -> str:
    """What a recording's name says it belongs to: its path without the ending and the trial."""
    return _TRIAL.sub("", path.removesuffix(ENDING))


def cases(files: Iterable[SourceFile]) -> frozenset[str]:
    """Every owner that exists: YAML cases by their path without `.yaml`, and functions of Python evals as
    `<path>.<function>`."""
    found: set[str] = set()
    for file in files:
        name = PurePosixPath(file.path).name
        if file.path.startswith(NOT_CASES):
            continue
        if name.endswith(".yaml"):
            found.add(file.path.removesuffix(".yaml"))
        elif name.startswith("test_") and name.endswith(".py"):
            found.update(f"{file.path.removesuffix('.py')}.{function}" for function in _functions(file.text))
    return frozenset(found)


def _functions(text: str) -> list[str]:
    """Test functions by the syntax tree, or by their lines where the file does not parse (its own run reports
    that)."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return re.findall(r"^(?:async\s+)?def\s+(test_\w+)", text, re.MULTILINE)
    return [
        node.name
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    ]


def check(files: Iterable[SourceFile], *, largest: int = LARGEST) -> list[Finding]:
    """All recordings that are not as they should be, given every file below `evals`."""
    given = list(files)
    owners = cases(given)
    found: list[Finding] = []
    for file in given:
        if file.path.endswith(ENDING):
            found += _orphan(file, owners)
            found += _content(file, largest)
    return sorted(found)


def _orphan(file: SourceFile, owners: frozenset[str]) -> list[Finding]:
    if owner(file.path) in owners:
        return []
    what = f"belongs to no case: there is no '{owner(file.path)}.yaml' and no test function of that name"
    why = "an orphan is replayed by nobody, and is taken for proof by whoever reads the folder"
    return [Finding(file.path, 0, what, why, f"rename it with its case, or delete it: git rm '{file.path}'")]


def _content(file: SourceFile, largest: int) -> list[Finding]:
    size = len(file.text.encode())
    if size > largest:
        why = "a recording is read and reviewed by people, and loaded whole"
        return [
            Finding(
                file.path,
                0,
                f"has {size} bytes, more than {largest}",
                why,
                "split the case into smaller ones",
            )
        ]
    why = "what cannot be read cannot be replayed"
    cure = "restore the file from version control, or delete it and record the case again: ./pants record <case>"
    try:
        content = json.loads(file.text)
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        return [Finding(file.path, line, f"is not JSON: {error}", why, cure)]
    number = content.get("format") if isinstance(content, dict) else None
    if type(number) is not int or number not in FORMATS:
        known = ", ".join(str(known) for known in FORMATS)
        return [Finding(file.path, 0, f"has the format {number!r}; known are: {known}", why, cure)]
    return []
