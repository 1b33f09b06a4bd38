"""Read a case and its binding, and find the targets behind everything that they name."""

from __future__ import annotations

from dataclasses import dataclass

from pants.backend.python.dependency_inference.module_mapper import PythonModuleOwners, PythonModuleOwnersRequest
from pants.backend.python.subsystems.setup import PythonSetup
from pants.engine.addresses import Address
from pants.engine.fs import DigestContents, PathGlobs
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.core.binding import Binding, read_binding
from seatrial_build.core.references import CaseReferences, neighbours_of, path_of, read_references, recording_of
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.read_yaml import read_yaml


@dataclass(frozen=True)
class BindingRequest:
    path: str


@dataclass(frozen=True)
class ReadBinding:
    """A binding as it was read. Compared by its file's content, which the path stands for in a run."""

    path: str
    content: bytes

    @property
    def binding(self) -> Binding:
        return read_binding(read_yaml(self.content))


@dataclass(frozen=True)
class CompositionRequest:
    """Ask for the code of a composition: the runner, the binding and its plugins. None: the binding's default."""

    binding_path: str
    plugins: tuple[str, ...] | None
    runner: str = places.CASE_RUNNER


@dataclass(frozen=True)
class Composition:
    """The targets whose code a composition runs, the addresses of the gates that it adds, and its plugins."""

    code: tuple[Address, ...]
    gates: tuple[str, ...]
    root: str
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseContentsRequest:
    case_path: str
    binding_path: str


@dataclass(frozen=True)
class CaseContents:
    """What a case refers to.

    ``code`` are targets that it runs beside its composition. ``data`` are the files that go into its sandbox,
    ``data_owners`` their targets, ``absent_owners`` the
    generators that would own files which are named and not there. ``neighbours`` are globs of what lies where
    those were looked for, so that the case's own run can name what comes near.
    """

    composition: Composition
    data: tuple[str, ...]
    data_owners: tuple[Address, ...]
    absent_owners: tuple[Address, ...]
    neighbours: tuple[str, ...] = ()
    code: tuple[Address, ...] = ()


@rule(desc="Read a binding", level=LogLevel.DEBUG)
async def read_the_binding(request: BindingRequest) -> ReadBinding:
    contents = await Get(DigestContents, PathGlobs([request.path]))
    return ReadBinding(request.path, contents[0].content if contents else b"")


@rule(desc="Find the code of a composition", level=LogLevel.DEBUG)
async def find_composition(request: CompositionRequest, python_setup: PythonSetup) -> Composition:
    read = await Get(ReadBinding, BindingRequest(request.binding_path))
    binding = read.binding
    modules = [request.runner, *filter(None, [binding.module]), *binding.modules_of(request.plugins)]
    owners = await MultiGet(
        Get(PythonModuleOwners, PythonModuleOwnersRequest(module, resolve=python_setup.default_resolve))
        for module in modules
    )
    code = {address for owner in owners for address in owner.unambiguous}
    return Composition(
        tuple(sorted(code)), binding.gates_of(request.plugins), binding.root, binding.plugins_of(request.plugins)
    )


@rule(desc="Read a case", level=LogLevel.DEBUG)
async def read_case(request: CaseContentsRequest, owners: OwnersByPath) -> CaseContents:
    contents = await Get(DigestContents, PathGlobs([request.case_path]))
    references = read_references(read_yaml(contents[0].content)) if contents else CaseReferences()
    composition = await Get(Composition, CompositionRequest(request.binding_path, references.plugin_names))
    named = [path for path in (path_of(reference, composition.root) for reference in references.files) if path]
    paths = sorted({request.binding_path, recording_of(request.case_path), *named})
    present = [path for path in paths if owners.of(path)]
    return CaseContents(
        composition,
        data=tuple(present),
        data_owners=tuple(sorted({address for path in present for address in owners.of(path)})),
        absent_owners=tuple(sorted({a for path in paths if path not in present for a in owners.of_absent(path)})),
        neighbours=tuple(sorted({neighbours_of(path, composition.root) for path in named if path not in present})),
    )


def rules():
    return collect_rules()
