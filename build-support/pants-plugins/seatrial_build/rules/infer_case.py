"""Infer what cases depend on, in YAML and in Python alike."""

from __future__ import annotations

from pants.engine.addresses import Address
from pants.engine.rules import Get, collect_rules, rule
from pants.engine.target import InferDependenciesRequest, InferredDependencies
from pants.engine.unions import UnionRule
from pants.util.logging import LogLevel

from seatrial_build.rules.case_kinds import CaseFieldSet, EvalTestFieldSet
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.read_case import CaseContents
from seatrial_build.rules.read_test import ContentsRequest


class InferCaseDependencies(InferDependenciesRequest):
    infer_from = CaseFieldSet


class InferEvalTestDependencies(InferDependenciesRequest):
    infer_from = EvalTestFieldSet


@rule(desc="Infer the dependencies of a case", level=LogLevel.DEBUG)
async def infer_case_dependencies(request: InferCaseDependencies, owners: OwnersByPath) -> InferredDependencies:
    contents = await Get(CaseContents, ContentsRequest(request.field_set))
    return _inferred(request.field_set.address, contents, owners)


@rule(desc="Infer the dependencies of a Python eval", level=LogLevel.DEBUG)
async def infer_test_dependencies(request: InferEvalTestDependencies, owners: OwnersByPath) -> InferredDependencies:
    contents = await Get(CaseContents, ContentsRequest(request.field_set))
    return _inferred(request.field_set.address, contents, owners)


def _inferred(address: Address, contents: CaseContents, owners: OwnersByPath) -> InferredDependencies:
    return InferredDependencies(
        {
            *contents.composition.code,
            *contents.code,
            *contents.data_owners,
            *contents.absent_owners,
            *owners.seal,
            *owners.build_definition,
        }
        - {address, address.maybe_convert_to_target_generator()}
    )


def rules():
    return [
        *collect_rules(),
        UnionRule(InferDependenciesRequest, InferCaseDependencies),
        UnionRule(InferDependenciesRequest, InferEvalTestDependencies),
    ]
