"""Find the targets that a change begins at, each with its cause."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from pants.backend.python.macros.python_requirements import PythonRequirementsSourceField
from pants.backend.python.subsystems.setup import PythonSetup
from pants.backend.python.target_types import PythonRequirementResolveField, PythonRequirementsField
from pants.engine.addresses import Address
from pants.engine.fs import DigestContents, PathGlobs
from pants.engine.internals.graph import Owners, OwnersRequest
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import AllUnexpandedTargets, Target
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel

from seatrial_build.core.packages import PackageChange, normal, pinned, required

_DEFAULTS = "__defaults__"


@dataclass(frozen=True)
class ChangedFile:
    """A changed file. ``before`` is the text it had, asked for where it says what the change means."""

    path: str
    before: str


@dataclass(frozen=True)
class RootsRequest:
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True)
class Roots:
    """Where a change begins: addresses, each with its cause. ``notes`` are for people."""

    causes: FrozenDict[Address, str]
    notes: tuple[str, ...]


def means_more(path: str, python_setup: PythonSetup) -> bool:
    """Tell whether a file's earlier text is needed to say what an edit of it means."""
    return path in python_setup.resolves.values() or posixpath.basename(path) in ("BUILD", "requirements.txt")


@rule(desc="Find where a change begins", level=LogLevel.DEBUG)
async def find_roots(request: RootsRequest, targets: AllUnexpandedTargets, python_setup: PythonSetup) -> Roots:
    paths = [file.path for file in request.files]
    contents, *owned = await MultiGet(
        Get(DigestContents, PathGlobs(paths)),
        *(Get(Owners, OwnersRequest((path,), match_if_owning_build_file_included_in_sources=True)) for path in paths),
    )
    now = {file.path: file.content.decode(errors="replace") for file in contents}
    causes: dict[Address, str] = {}
    notes: list[str] = []
    for file, owners in zip(request.files, owned):
        after = now.get(file.path, "")
        listed = _requirements_of(file.path, targets, python_setup)
        if listed is not None:
            locked = file.path in python_setup.resolves.values()
            changed = (pinned if locked else required)(file.before, after)
            notes.append(f"{file.path}: {_told(changed)}")
            known = {name for names in listed.values() for name in names}
            for address, names in listed.items():
                cause = _package_cause(file.path, changed, names, known)
                if cause:
                    causes.setdefault(address, cause)
            continue
        marked: Iterable[Address] = owners
        if posixpath.basename(file.path) == "BUILD" and _DEFAULTS in file.before + after:
            folder = posixpath.dirname(file.path)
            marked = [t.address for t in targets if _lies_in(t.address.spec_path, folder)]
        for address in marked:
            causes.setdefault(address, file.path)
    return Roots(FrozenDict(causes), tuple(notes))


def _requirements_of(path: str, targets: Iterable[Target], python_setup: PythonSetup) -> dict[Address, set[str]] | None:
    """Return the packages that a lock, or a file of requirements, is for: the targets with the names that they ask for.

    None for any other file.
    """
    resolves = {name for name, lock in python_setup.resolves.items() if lock == path}
    generators = {
        target.address
        for target in targets
        if target.has_field(PythonRequirementsSourceField) and target[PythonRequirementsSourceField].file_path == path
    }
    if not resolves and not generators:
        return None
    return {
        target.address: {normal(requirement.project_name) for requirement in target[PythonRequirementsField].value}
        for target in targets
        if target.has_field(PythonRequirementsField)
        and (
            target[PythonRequirementResolveField].normalized_value(python_setup) in resolves
            or target.address.maybe_convert_to_target_generator() in generators
        )
    }


def _package_cause(path: str, changed: tuple[PackageChange, ...], names: set[str], known: set[str]) -> str:
    """Word why the requirement with these names changes; empty when it does not.

    A package that nothing here asks for by itself came with another one. A lock does not say with which.
    """
    own = [change for change in changed if change.name in names]
    came_along = [change for change in changed if change.name not in known]
    told = [*own, *came_along]
    return (
        f"{path} ({', '.join(change.words for change in told[:3])}{', ...' if len(told) > 3 else ''})" if told else ""
    )


def _told(changed: tuple[PackageChange, ...]) -> str:
    return ", ".join(change.words for change in changed) or "no package is another"


def _lies_in(folder: str, parent: str) -> bool:
    return not parent or folder == parent or folder.startswith(f"{parent}/")


def rules():
    return collect_rules()
