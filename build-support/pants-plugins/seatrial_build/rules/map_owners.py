"""Know, for every file, the target that owns it.

Pants answers this one file at a time by looking at every target around it; cases ask it some thousand
times in a run, so it is answered once for all of them.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatch

from pants.backend.python.target_types import PythonSourceField
from pants.engine.addresses import Address
from pants.engine.rules import collect_rules, rule
from pants.engine.target import (
    AllTargets,
    AllUnexpandedTargets,
    MultipleSourcesField,
    SingleSourceField,
    TargetGenerator,
)
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.targets.evals import EvalTestSourceField
from seatrial_build.targets.gates import GateSourceField


@dataclass(frozen=True)
class OwnersByPath:
    """The targets of each file, and the generators that would own a file which is not there yet.

    ``modules`` are the Python modules in each folder that are no tests, ``gates`` the gates and tests, ``evals`` the
    evals in Python, ``seal`` the files of the seal, ``build_definition`` the target of that name where there is one.
    """

    owners: FrozenDict[str, tuple[Address, ...]]
    modules: FrozenDict[str, tuple[Address, ...]]
    gates: frozenset[Address]
    evals: frozenset[Address]
    generating: tuple[MultipleSourcesField, ...]
    seal: tuple[Address, ...]
    build_definition: tuple[Address, ...]

    def of(self, path: str) -> tuple[Address, ...]:
        """Return the targets that own the file at `path`; none for a file nobody owns."""
        return self.owners.get(path, ())

    def of_absent(self, path: str) -> tuple[Address, ...]:
        """Return the generators that would own a file at `path`.

        A case that names a missing file depends on them. Otherwise nothing would connect the case to the
        file's deletion, and `--changed-since` would miss it.
        """
        return tuple(
            field.address
            for field in self.generating
            if path.startswith(f"{field.address.spec_path}/".lstrip("/")) and field.filespec_matcher.matches([path])
        )


@rule(desc="Map files to the targets that own them", level=LogLevel.DEBUG)
async def map_owners(targets: AllTargets, unexpanded: AllUnexpandedTargets) -> OwnersByPath:
    owners: defaultdict[str, list[Address]] = defaultdict(list)
    modules: defaultdict[str, list[Address]] = defaultdict(list)
    gates, evals = set(), set()
    for target in targets:
        for field in target.field_values.values():
            if not isinstance(field, SingleSourceField) or field.value is None:
                continue
            owners[field.file_path].append(target.address)
            if isinstance(field, GateSourceField):
                gates.add(target.address)
            elif isinstance(field, EvalTestSourceField):
                evals.add(target.address)
            elif isinstance(field, PythonSourceField):
                modules[posixpath.dirname(field.file_path)].append(target.address)
    generating = [
        field
        for target in unexpanded
        if isinstance(target, TargetGenerator)
        for field in target.field_values.values()
        if isinstance(field, MultipleSourcesField)
    ]
    return OwnersByPath(
        _frozen(owners),
        _frozen(modules),
        frozenset(gates),
        frozenset(evals),
        tuple(sorted(generating, key=lambda field: field.address)),
        tuple(sorted(a for path, found in owners.items() if fnmatch(path, places.SEAL_FILES) for a in found)),
        tuple(target.address for target in unexpanded if target.address.spec == places.BUILD_DEFINITION),
    )


def _frozen(found: dict[str, list[Address]]) -> FrozenDict[str, tuple[Address, ...]]:
    return FrozenDict({key: tuple(sorted(addresses)) for key, addresses in sorted(found.items())})


def rules():
    return collect_rules()
