"""Say how it is known that one target depends on another."""

from __future__ import annotations

from dataclasses import dataclass

from pants.backend.python.dependency_inference.parse_python_dependencies import (
    ParsedPythonDependencies,
    ParsePythonDependenciesRequest,
)
from pants.backend.python.dependency_inference.rules import (
    PythonImportDependenciesInferenceFieldSet,
    ResolvedParsedPythonDependencies,
    ResolvedParsedPythonDependenciesRequest,
)
from pants.backend.python.subsystems.setup import PythonSetup
from pants.backend.python.util_rules.interpreter_constraints import InterpreterConstraints
from pants.engine.addresses import Address
from pants.engine.fs import DigestContents, PathGlobs
from pants.engine.rules import Get, collect_rules, rule
from pants.engine.target import (
    Dependencies,
    DependenciesRequest,
    ExplicitlyProvidedDependencies,
    Target,
    WrappedTarget,
    WrappedTargetRequest,
)
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.core.references import path_of, read_references, recording_of
from seatrial_build.rules.case_kinds import CaseFieldSet, EvalTestFieldSet
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.read_case import BindingRequest, Composition, CompositionRequest, ReadBinding
from seatrial_build.rules.read_yaml import read_yaml
from seatrial_build.targets.fields import ReadsField
from seatrial_build.targets.gates import TypingPackagesField


@dataclass(frozen=True)
class EdgeRequest:
    """Ask why `dependent` depends on `dependency`."""

    dependent: Address
    dependency: Address


@dataclass(frozen=True)
class Edge:
    reason: str


@dataclass(frozen=True)
class CaseEdgeRequest:
    """Ask for the words of a case that lead to `dependency`."""

    case: CaseFieldSet
    dependency: Address


@dataclass(frozen=True)
class ImportEdgeRequest:
    """Ask for the line of a Python file that imports `dependency`."""

    files: PythonImportDependenciesInferenceFieldSet
    dependency: Address


@rule(desc="Explain a dependency", level=LogLevel.DEBUG)
async def explain(request: EdgeRequest, owners: OwnersByPath) -> Edge:
    wrapped = await Get(WrappedTarget, WrappedTargetRequest(request.dependent, description_of_origin="impact"))
    target, dependency = wrapped.target, request.dependency
    if dependency in owners.seal:
        return Edge("the seal stands before every process")
    if dependency in owners.build_definition:
        return Edge("it shapes every process")
    if CaseFieldSet.is_applicable(target):
        edge = await Get(Edge, CaseEdgeRequest(CaseFieldSet.create(target), dependency))
        if edge.reason:
            return edge
    if EvalTestFieldSet.is_applicable(target):
        test = EvalTestFieldSet.create(target)
        if dependency in owners.of(test.recording):
            return Edge("its recording")
    if target.has_field(Dependencies):
        explicit = await Get(ExplicitlyProvidedDependencies, DependenciesRequest(target[Dependencies]))
        if dependency in explicit.includes:
            return Edge("dependencies=")
    if PythonImportDependenciesInferenceFieldSet.is_applicable(target):
        files = PythonImportDependenciesInferenceFieldSet.create(target)
        edge = await Get(Edge, ImportEdgeRequest(files, dependency))
        if edge.reason:
            return edge
    return Edge(_otherwise(target, dependency))


@rule(desc="Explain a dependency of a case", level=LogLevel.DEBUG)
async def explain_case(request: CaseEdgeRequest, owners: OwnersByPath) -> Edge:
    case, dependency = request.case, request.dependency
    assert case.binding.value is not None
    if dependency in owners.of(recording_of(case.path)):
        return Edge("its recording")
    if dependency in owners.of(case.binding.value):
        return Edge("binding=")
    contents = await Get(DigestContents, PathGlobs([case.path]))
    references = read_references(read_yaml(contents[0].content)) if contents else None
    read = await Get(ReadBinding, BindingRequest(case.binding.value))
    for reference in references.files if references else ():
        path = path_of(reference, read.binding.root)
        if path and dependency in (*owners.of(path), *owners.of_absent(path)):
            return Edge(f"{case.path}:{reference.line} {reference.key}: {reference.value}")
    plain = await Get(Composition, CompositionRequest(case.binding.value, ()))
    if dependency in plain.code:
        return Edge(f"the runner, or the binding of {case.binding.value}")
    for reference in (references.plugins if references else None) or ():
        composed = await Get(Composition, CompositionRequest(case.binding.value, (reference.value,)))
        if dependency in composed.code:
            return Edge(f"{case.path}:{reference.line} {reference.key}: {reference.value}")
    default = await Get(Composition, CompositionRequest(case.binding.value, None))
    return Edge(f"default composition of {case.binding.value}" if dependency in default.code else "")


@rule(desc="Explain an import", level=LogLevel.DEBUG)
async def explain_import(request: ImportEdgeRequest, python_setup: PythonSetup) -> Edge:
    files = request.files
    constraints = InterpreterConstraints.create_from_compatibility_fields([files.interpreter_constraints], python_setup)
    parsed = await Get(ParsedPythonDependencies, ParsePythonDependenciesRequest(files.source, constraints))
    resolved = await Get(
        ResolvedParsedPythonDependencies,
        ResolvedParsedPythonDependenciesRequest(files, parsed, files.resolve.normalized_value(python_setup)),
    )
    lines = sorted(
        (parsed.imports[module].lineno, module)
        for module, found in resolved.resolve_results.items()
        if request.dependency in found.address and module in parsed.imports
    )
    if not lines:
        return Edge("")
    line, module = lines[0]
    return Edge(f"{files.source.file_path}:{line} imports {module}")


def _otherwise(target: Target, dependency: Address) -> str:
    if dependency.is_generated_target and dependency.maybe_convert_to_target_generator() == target.address:
        return "generates it"
    if target.address.is_generated_target and target.address.maybe_convert_to_target_generator() == dependency:
        return "generated by it"
    name = dependency.filename if dependency.is_file_target else ""
    if name.endswith(("/__init__.py", "/conftest.py")):
        return "lies above it"
    if name in (places.GATE_RUNNER, places.TYPING_RUNNER, places.RUNNER_SUPPORT, places.MYPY_CONFIG):
        return "the runner of gates"
    if target.has_field(TypingPackagesField):
        return "packages="
    return "reads=" if target.has_field(ReadsField) and target[ReadsField].value else "inferred"


def rules():
    return collect_rules()
