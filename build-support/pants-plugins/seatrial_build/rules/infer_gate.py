"""Infer what gates and tests depend on: what runs in their process, and what it reads."""

from __future__ import annotations

from dataclasses import dataclass

from pants.backend.python.dependency_inference.module_mapper import PythonModuleOwners, PythonModuleOwnersRequest
from pants.backend.python.subsystems.setup import PythonSetup
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.target import FieldSet, InferDependenciesRequest, InferredDependencies
from pants.engine.unions import UnionRule
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.rules.find_gate_code import GateCode, GateCodeRequest, ReadFiles, ReadFilesRequest, package_globs
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.targets.fields import ReadsField
from seatrial_build.targets.gates import GateSourceField, TypingDependenciesField, TypingPackagesField


@dataclass(frozen=True)
class GateInferenceFieldSet(FieldSet):
    required_fields = (GateSourceField, ReadsField)

    source: GateSourceField
    reads: ReadsField


class InferGateDependencies(InferDependenciesRequest):
    infer_from = GateInferenceFieldSet


@rule(desc="Infer the dependencies of a gate", level=LogLevel.DEBUG)
async def infer_gate_dependencies(request: InferGateDependencies, owners: OwnersByPath) -> InferredDependencies:
    address = request.field_set.address
    code, read = await MultiGet(
        Get(GateCode, GateCodeRequest(address)),
        Get(ReadFiles, ReadFilesRequest(request.field_set.reads.value or ())),
    )
    tools = (places.GATE_RUNNER, places.RUNNER_SUPPORT)
    found = {
        *code.addresses,
        *read.addresses,
        *owners.seal,
        *owners.build_definition,
        *(owner for tool in tools for owner in owners.of(tool)),
    }
    return InferredDependencies(found - {address, address.maybe_convert_to_target_generator()})


@dataclass(frozen=True)
class TypingInferenceFieldSet(FieldSet):
    required_fields = (TypingPackagesField, TypingDependenciesField)

    packages: TypingPackagesField


class InferTypingDependencies(InferDependenciesRequest):
    infer_from = TypingInferenceFieldSet


@rule(desc="Infer the dependencies of a typing gate", level=LogLevel.DEBUG)
async def infer_typing_dependencies(
    request: InferTypingDependencies, owners: OwnersByPath, python_setup: PythonSetup
) -> InferredDependencies:
    read, mypy = await MultiGet(
        Get(ReadFiles, ReadFilesRequest(package_globs(request.field_set.packages), as_code=True)),
        Get(PythonModuleOwners, PythonModuleOwnersRequest("mypy", resolve=python_setup.default_resolve)),
    )
    tools = (places.TYPING_RUNNER, places.RUNNER_SUPPORT, places.MYPY_CONFIG)
    return InferredDependencies(
        {
            *read.addresses,
            *mypy.unambiguous,
            *owners.seal,
            *owners.build_definition,
            *(owner for tool in tools for owner in owners.of(tool)),
        }
    )


def rules():
    return [
        *collect_rules(),
        UnionRule(InferDependenciesRequest, InferGateDependencies),
        UnionRule(InferDependenciesRequest, InferTypingDependencies),
    ]
