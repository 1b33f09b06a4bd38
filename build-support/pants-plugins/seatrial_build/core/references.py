"""Find what a case refers to, and in which line.

Only the words that name something outside of the case are read: plugins and files. Whether the case is
valid is not decided here; a case that cannot be read at all refers to nothing, and its run says why.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from seatrial_build.core.document import Listing, Mapping, Node, Word, entries_of, words_of

FILE_KEYS = ("snapshot", "recorded_history")
"""The keys, at the top of a case, whose value is the path of a file."""


@dataclass(frozen=True)
class Reference:
    """One word of a case that names something else: the YAML key, the value, the line (from 1)."""

    key: str
    value: str
    line: int


@dataclass(frozen=True)
class CaseReferences:
    """All that a case names. ``plugins`` is None when the case leaves the composition to the binding."""

    files: tuple[Reference, ...] = ()
    plugins: tuple[Reference, ...] | None = None

    @property
    def plugin_names(self) -> tuple[str, ...] | None:
        return None if self.plugins is None else tuple(plugin.value for plugin in self.plugins)


def read_references(top: Node | None) -> CaseReferences:
    """Return what the case in this document refers to."""
    files = tuple(
        Reference(key, value.text, value.line)
        for key, value in entries_of(top)
        if key in FILE_KEYS and isinstance(value, Word) and value.text
    )
    agent = top.get("agent") if isinstance(top, Mapping) else None
    named = agent.get("plugins") if isinstance(agent, Mapping) else None
    if named is None:
        return CaseReferences(files)
    plugins = tuple(Reference("agent.plugins", word.text, word.line) for word in words_of(named))
    return CaseReferences(files, plugins)


def is_case(top: Node | None) -> bool:
    """Tell whether a document is meant as a case: it says what is sent to the agent. Fixtures do not."""
    return isinstance(top, Mapping) and isinstance(top.get("turns"), Listing)


def path_of(reference: Reference, root: str) -> str | None:
    """Return the path, from the repository's top, of the file that a case names.

    Paths are relative to `root`. None when the path is absolute, leads out of the repository, or holds
    characters that a glob would read as more than themselves.
    """
    if posixpath.isabs(reference.value) or any(character in reference.value for character in "*?[]{}!\\\0"):
        return None
    path = posixpath.normpath(posixpath.join(root, reference.value))
    return None if path.startswith("../") or path in (".", "..") else path


def neighbours_of(path: str, root: str) -> str:
    """Return a glob of the files among which a missing file was looked for: those in its folder below `root`."""
    inside = posixpath.relpath(path, root)
    first, separator, _ = inside.partition("/")
    if first == ".." or not separator:
        return posixpath.join(posixpath.dirname(path), "*.yaml")
    return posixpath.join(root, first, "**", "*.yaml")


def recording_of_test(path: str, function: str) -> str:
    """Return the path of a Python eval's recording: `test_one` of `test_a.py` has `test_a.test_one.recording.json`."""
    return recording_of(f"{posixpath.splitext(path)[0]}.{function}.py")


def recording_of(case_path: str) -> str:
    """Return the path of a case's recording: `recall.yaml` has `recall.recording.json` beside it."""
    return f"{posixpath.splitext(case_path)[0]}.recording.json"
