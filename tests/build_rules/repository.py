"""A repository on which the plugin's rules are run, as Pants runs them, but without starting a process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pants.backend.project_info import dependents
from pants.backend.project_info.dependents import Dependents, DependentsRequest
from pants.backend.python.target_types import PythonRequirementsField
from pants.base.specs import Specs
from pants.core import register as core
from pants.engine.addresses import Address, Addresses
from pants.engine.fs import Digest, Snapshot
from pants.engine.internals.graph import Owners, OwnersRequest
from pants.engine.target import DependenciesRequest, Target, Targets, TransitiveTargets, TransitiveTargetsRequest
from pants.option.global_options import GlobalOptions
from pants.testutil.rule_runner import QueryRule, RuleRunner

import slim_python.register
from seatrial_build import register
from seatrial_build.rules.case_kinds import CaseFieldSet
from seatrial_build.rules.find_change import ChangedFile, Roots, RootsRequest
from seatrial_build.rules.prepare_case import CaseParts, CasePartsRequest
from seatrial_build.rules.prepare_runtime import Code, CodeRequest, SealScript
from seatrial_build.rules.read_case import Composition, CompositionRequest
from seatrial_build.targets.cases import CaseSourceField

ROOT = Path.cwd()
"""The sandbox's top: the files of this repository that the test reads lie below it."""

CONFIG = "pants.toml"
OPTIONS = (f"--pants-config-files=['{ROOT / CONFIG}']",)
"""The repository's own options."""
FOLDERS = ("src", "evals", "3rdparty", "build-support")
FILES = ("BUILD", "mypy.ini", CONFIG)

_QUERIES = (
    QueryRule(Addresses, [Specs]),
    QueryRule(CaseParts, [CasePartsRequest]),
    QueryRule(Code, [CodeRequest]),
    QueryRule(Composition, [CompositionRequest]),
    QueryRule(Dependents, [DependentsRequest]),
    QueryRule(GlobalOptions, []),
    QueryRule(Owners, [OwnersRequest]),
    QueryRule(Roots, [RootsRequest]),
    QueryRule(SealScript, []),
    QueryRule(Targets, [DependenciesRequest]),
    QueryRule(TransitiveTargets, [TransitiveTargetsRequest]),
)


def real_files() -> dict[str, bytes]:
    """The files that the gate reads. What Python or a person left beside them is not among them."""
    paths = [ROOT / name for name in FILES]
    paths += [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    return {p.relative_to(ROOT).as_posix(): p.read_bytes() for p in paths if "__pycache__" not in p.parts}


@dataclass(frozen=True)
class Inputs:
    """All that a case's process is made of and that the repository decides: equal inputs are an equal key."""

    sources: Digest
    source_roots: tuple[str, ...]
    requirements: tuple[str, ...]
    seal: Digest
    own: Digest


def rule_runner(place: Path) -> RuleRunner:
    """Return the plugin's rules as `pants.toml` and Pants put them together, on an empty repository.

    `place` is a folder for what Pants keeps; nothing of the machine's own caches is read or written.
    """
    plugins = (core, slim_python.register, register)
    runner = RuleRunner(
        rules=[*(rule for plugin in plugins for rule in plugin.rules()), *dependents.rules(), *_QUERIES],
        target_types=[target for plugin in plugins for target in plugin.target_types()],
        bootstrap_args=[f"--local-store-dir={place / 'store'}", f"--named-caches-dir={place / 'named'}"],
    )
    runner.set_options(OPTIONS)
    return runner


class Repository:
    """The files of a repository and what the plugin's rules say of them."""

    def __init__(self, runner: RuleRunner, files: Mapping[str, bytes]) -> None:
        self.runner = runner
        runner.write_files(files)

    def configure(self, *options: str) -> None:
        """Go on with these options beside the repository's own."""
        self.runner.set_options([*OPTIONS, *options])

    def text(self, path: str) -> bytes:
        return Path(self.runner.build_root, path).read_bytes()

    @contextmanager
    def edited(self, path: str, content: bytes | None) -> Iterator[None]:
        """Give a file other content, or take it away (None), until the block ends."""
        before = self.text(path)
        if content is None:
            os.unlink(Path(self.runner.build_root, path))
            self.runner.scheduler.invalidate_files({path, *map(str, PurePosixPath(path).parents)})
        else:
            self.runner.write_files({path: content})
        try:
            yield
        finally:
            self.runner.write_files({path: before})

    def files(self, digest: Digest) -> set[str]:
        """Return the paths of the files in a digest."""
        return {*self.runner.request(Snapshot, [digest]).files}

    def target(self, path: str) -> Target:
        """Return the generated target of a file whose BUILD file lies beside it."""
        folder, _, name = path.rpartition("/")
        return self.runner.get_target(Address(folder, relative_file_path=name))

    def closure(self, path: str) -> tuple[str, ...]:
        """Return the addresses of all that a file's target depends on, and of itself."""
        request = TransitiveTargetsRequest([self.target(path).address])
        found = self.runner.request(TransitiveTargets, [request])
        return tuple(sorted(target.address.spec for target in found.closure))

    def inputs(self, case: str) -> Inputs:
        """Return the inputs of the process of a case."""
        field_set = CaseFieldSet.create(self.target(case))
        parts = self.runner.request(CaseParts, [CasePartsRequest(field_set)])
        code = self.runner.request(Code, [CodeRequest(parts.code)])
        behind = self.runner.request(TransitiveTargets, [TransitiveTargetsRequest(parts.code)])
        requirements = {
            str(requirement)
            for target in behind.closure
            if target.has_field(PythonRequirementsField)
            for requirement in target[PythonRequirementsField].value
        }
        seal = self.runner.request(SealScript, [])
        return Inputs(code.sources, code.source_roots, tuple(sorted(requirements)), seal.digest, parts.inputs)

    def affected(self, path: str, *, before: str = "") -> set[str]:
        """Return the cases that `impact` calls affected by an edit of this file, which had the text `before`."""
        roots = self.runner.request(Roots, [RootsRequest((ChangedFile(path, before),))])
        request = DependentsRequest([*roots.causes], transitive=True, include_roots=True)
        found = [self.runner.get_target(address) for address in self.runner.request(Dependents, [request])]
        return {target[CaseSourceField].file_path for target in found if target.has_field(CaseSourceField)}
