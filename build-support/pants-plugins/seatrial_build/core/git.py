"""What git knows of a change: its files, and what they were before."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass


class GitRefused(Exception):
    """Git cannot say what changed. The message says why, and what to do."""


@dataclass(frozen=True)
class Change:
    """What is different from ``base``, a commit: ``files``, from the repository's top, the deleted ones too."""

    base: str
    files: tuple[str, ...]


def change_since(root: str, ref: str) -> Change:
    """Return what the working tree in `root` has that the common ancestor of HEAD and `ref` has not.

    Pants' own list has the new name alone of a file that was renamed, and breaks names at spaces. Raises GitRefused.
    """
    base = _base(root, ref)
    edited = _git(root, "diff", "-z", "--name-only", "--no-renames", "--relative", base, "--")
    new = _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    return Change(base, tuple(sorted({name for name in (edited + new).split("\0") if name})))


def text_before(root: str, change: Change, path: str) -> str:
    """Return the text that a file had before the change; empty when it was not there."""
    try:
        return _git(root, "show", f"{change.base}:./{path}")
    except GitRefused:
        return ""


def _base(root: str, ref: str) -> str:
    if ref.startswith("-"):
        raise GitRefused(f"'{ref}' names no commit: a name does not begin with a hyphen.")
    try:
        commit = _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").strip()
    except GitRefused as error:
        if "not a git repository" in str(error):
            raise GitRefused(f"'{root}' is in no git repository, and only git knows what changed.") from error
        near = _git(root, "for-each-ref", "--format=%(refname:short)", "--count=8").split()
        known = f" Known are: {', '.join(near)}." if near else ""
        raise GitRefused(f"'{ref}' names no commit.{known} Fetch it, or name another.") from error
    try:
        return _git(root, "merge-base", commit, "HEAD").strip()
    except GitRefused as error:
        shallow = _git(root, "rev-parse", "--is-shallow-repository").strip() == "true"
        cure = " This clone is shallow: run `git fetch --unshallow`." if shallow else ""
        raise GitRefused(f"'{ref}' and HEAD have no common ancestor.{cure}") from error


def _git(root: str, *arguments: str) -> str:
    command = ["git", "-C", root, *arguments]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise GitRefused(f"git cannot be started: {error}.") from error
    if done.returncode != 0:
        raise GitRefused(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode("utf-8", "surrogateescape")
