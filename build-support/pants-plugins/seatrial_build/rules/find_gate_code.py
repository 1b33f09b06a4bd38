"""Find what a pytest file runs, and what it reads: a gate's, a test's or a Python eval's."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from pants.backend.python.dependency_inference.module_mapper import PythonModuleOwners, PythonModuleOwnersRequest
from pants.backend.python.dependency_inference.rules import (
    InferPythonImportDependencies,
    PythonImportDependenciesInferenceFieldSet,
)
from pants.backend.python.subsystems.setup import PythonSetup
from pants.backend.python.target_types import PythonRequirementsField, PythonResolveField, PythonSourceField
from pants.engine.addresses import Address, Addresses
from pants.engine.fs import PathGlobs, Paths
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import (
    Dependencies,
    DependenciesRequest,
    ExplicitlyProvidedDependencies,
    InferredDependencies,
    Target,
    WrappedTarget,
    WrappedTargetRequest,
)
from pants.util.logging import LogLevel

from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.subsystem import SeatrialSubsystem
from seatrial_build.targets.gates import GateSourceField, TypingPackagesField, UnitTestSourceField


@dataclass(frozen=True)
class GateCodeRequest:
    address: Address


@dataclass(frozen=True)
class GateCode:
    """The direct dependencies of a pytest file whose code runs in its process.

    pytest itself is among a gate's; an eval has it from its runner.
    """

    addresses: Addresses


@rule(desc="Find the code of a gate", level=LogLevel.DEBUG)
async def find_gate_code(
    request: GateCodeRequest, owners: OwnersByPath, python_setup: PythonSetup, seatrial: SeatrialSubsystem
) -> GateCode:
    wrapped = await Get(WrappedTarget, WrappedTargetRequest(request.address, description_of_origin="a gate"))
    target = wrapped.target
    field = target[PythonSourceField]
    resolve = target[PythonResolveField].normalized_value(python_setup)
    modules = ["pytest"] if isinstance(field, GateSourceField) else []
    modules += seatrial.test_plugins if isinstance(field, UnitTestSourceField) else ()
    imported, explicit, *tools = await MultiGet(
        Get(
            InferredDependencies,
            InferPythonImportDependencies(PythonImportDependenciesInferenceFieldSet.create(target)),
        ),
        Get(ExplicitlyProvidedDependencies, DependenciesRequest(target[Dependencies])),
        *(Get(PythonModuleOwners, PythonModuleOwnersRequest(module, resolve=resolve)) for module in modules),
    )
    found = {
        *imported.include,
        *explicit.includes,
        *(address for tool in tools for address in tool.unambiguous),
        *_support_modules(field.file_path, owners),
    }
    return GateCode(Addresses(sorted(found - {request.address})))


def _support_modules(path: str, owners: OwnersByPath) -> list[Address]:
    """Find the modules that pytest lets this file import without naming its folder, and the conftest.py files.

    pytest puts the folder of a test file on the path, so a module beside it is imported by its bare name;
    Pants' own inference knows no such name.
    """
    folder = posixpath.dirname(path)
    found = [*owners.modules.get(folder, ())]
    while folder:
        found += owners.of(posixpath.join(folder, "conftest.py"))
        folder = posixpath.dirname(folder)
    return found


@dataclass(frozen=True)
class ReadFilesRequest:
    """Ask who owns what these globs find: as text that is looked at, or as code that is followed."""

    globs: tuple[str, ...]
    as_code: bool = False


@dataclass(frozen=True)
class ReadFiles:
    """The targets whose change can change what these globs find: the owners, and, for globs with a
    wildcard, their generators, which stand for files that were deleted."""

    addresses: tuple[Address, ...]


@rule(desc="Find the targets that a gate reads", level=LogLevel.DEBUG)
async def find_read_files(request: ReadFilesRequest, owners: OwnersByPath) -> ReadFiles:
    paths = await Get(Paths, PathGlobs(request.globs))
    found = {address for path in paths.files for address in owners.of(path)}
    if not request.as_code:
        # Two gates that read each other's text would be a cycle. The files of tests have a second owner, a
        # plain `file`, which depends on nothing.
        found -= owners.gates
    if any("*" in glob for glob in request.globs):
        found |= {address.maybe_convert_to_target_generator() for address in found}
    return ReadFiles(tuple(sorted(found)))


def is_code(target: Target) -> bool:
    """Tell whether a target is code: the rest of what processes need is data, and nobody shares it."""
    return target.has_field(PythonSourceField) or target.has_field(PythonRequirementsField)


def package_globs(packages: TypingPackagesField) -> tuple[str, ...]:
    """Return the globs of the Python files in the packages of a typing gate."""
    return tuple(f"{package}/**/*.{ending}" for package in packages.value or () for ending in ("py", "pyi"))


def rules():
    return collect_rules()
