"""`./pants impact --changed-since=REF`: which gates and cases a change reaches, by which way, and how sure that is."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass

from pants.backend.python.subsystems.setup import PythonSetup
from pants.base.build_environment import get_buildroot
from pants.core.util_rules.distdir import DistDir
from pants.engine.addresses import Address, Addresses, UnparsedAddressInputs
from pants.engine.console import Console
from pants.engine.goal import Goal, GoalSubsystem
from pants.engine.internals.options_parsing import Scope, ScopedOptions
from pants.engine.rules import Get, MultiGet, collect_rules, goal_rule, rule
from pants.engine.target import AllUnexpandedTargets, Dependencies, DependenciesRequest, Target, Targets
from pants.option.option_types import BoolOption, StrOption
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel
from pants.vcs.changed import Changed

from seatrial_build.core.git import GitRefused, change_since, text_before
from seatrial_build.core.impact import Affected, Step, as_json, key_of, reach, way, worded
from seatrial_build.rules.case_kinds import KINDS, AnyCase
from seatrial_build.rules.explain_edge import Edge, EdgeRequest
from seatrial_build.rules.find_change import ChangedFile, Roots, RootsRequest, means_more
from seatrial_build.rules.prepare_case import CaseProcess, CaseProcessRequest
from seatrial_build.rules.prepare_gate import GateProcess, GateProcessRequest
from seatrial_build.rules.read_case import CaseContents
from seatrial_build.rules.read_test import ContentsRequest
from seatrial_build.targets.gates import GateSourceField, TypingPackagesField


class ImpactSubsystem(GoalSubsystem):
    name = "impact"
    help = (
        "Say which gates and cases a change reaches.\n\n"
        "Each comes with the shortest way to a changed file, and how each edge of it is known. Its key says whether "
        "its process would be another one than when it last passed here: what has the same key is answered by the "
        "cache. Edges from cases to their gates are not followed: a gate that is reached blocks its cases when it "
        "fails, and does not run them again."
    )

    changed_since = StrOption(
        default=None, help="The commit, branch or tag to compare with: what came after the common ancestor counts."
    )
    json = BoolOption(default=False, help="Print a document for programs.")


class Impact(Goal):
    subsystem_cls = ImpactSubsystem
    environment_behavior = Goal.EnvironmentBehavior.LOCAL_ONLY


@dataclass(frozen=True)
class Dependents:
    """Who depends directly on each address, and the generator of each generated one."""

    by_address: FrozenDict[Address, tuple[Address, ...]]
    generators: FrozenDict[str, str]


@dataclass(frozen=True)
class KeyRequest:
    """Ask for the key of a gate's process, or of a case's."""

    address: Address
    case: AnyCase | None


@dataclass(frozen=True)
class Key:
    """``gates`` are the addresses that come before a case."""

    key: str
    gates: tuple[str, ...] = ()


@rule(desc="Map targets to their dependents", level=LogLevel.DEBUG)
async def map_dependents(targets: AllUnexpandedTargets) -> Dependents:
    needed = await MultiGet(Get(Addresses, DependenciesRequest(t.get(Dependencies))) for t in targets)
    found: defaultdict[Address, list[Address]] = defaultdict(list)
    for target, addresses in zip(targets, needed):
        for address in addresses:
            found[address].append(target.address)
    generators = {
        target.address.spec: target.address.maybe_convert_to_target_generator().spec
        for target in targets
        if target.address.is_generated_target
    }
    return Dependents(FrozenDict({a: tuple(sorted(d)) for a, d in found.items()}), FrozenDict(generators))


@rule(desc="Find the key of a process", level=LogLevel.DEBUG)
async def find_key(request: KeyRequest) -> Key:
    if request.case is None:
        gate = await Get(GateProcess, GateProcessRequest(request.address))
        return Key(gate.process.key)
    case = request.case
    process, contents = await MultiGet(
        Get(CaseProcess, CaseProcessRequest(case)), Get(CaseContents, ContentsRequest(case))
    )
    own, added = await MultiGet(
        Get(
            Targets,
            UnparsedAddressInputs(
                case.gates.value or (), owning_address=case.address, description_of_origin="the field `gates`"
            ),
        ),
        Get(
            Targets,
            UnparsedAddressInputs(
                contents.composition.gates, owning_address=None, description_of_origin="the field `plugin_gates`"
            ),
        ),
    )
    return Key(process.process.key, tuple(sorted({target.address.spec for target in (*own, *added)})))


@goal_rule
async def impact(
    console: Console,
    subsystem: ImpactSubsystem,
    targets: AllUnexpandedTargets,
    python_setup: PythonSetup,
    distdir: DistDir,
) -> Impact:
    scoped = await Get(ScopedOptions, Scope(Changed.options_scope))
    ref = subsystem.changed_since or scoped.options.since
    if not ref:
        console.print_stderr("impact: say what to compare with, for example: ./pants impact --changed-since=main")
        return Impact(exit_code=1)
    root = get_buildroot()
    try:
        change = change_since(root, ref)
        files = tuple(
            ChangedFile(path, text_before(root, change, path) if means_more(path, python_setup) else "")
            for path in change.files
        )
    except GitRefused as error:
        console.print_stderr(f"impact: {error}")
        return Impact(exit_code=1)
    roots, dependents = await MultiGet(Get(Roots, RootsRequest(files)), Get(Dependents))
    by_spec = {target.address.spec: target for target in targets}
    reached = reach(
        (address.spec for address in roots.causes),
        {address.spec: [each.spec for each in found] for address, found in dependents.by_address.items()},
        dependents.generators,
    )
    found = [by_spec[spec] for spec in sorted(reached) if spec in by_spec and _has_verdict(by_spec[spec])]
    ways = [way(target.address.spec, reached) for target in found]
    edges = sorted({pair for steps in ways for pair in zip(steps, steps[1:])})
    reasons = await MultiGet(
        Get(Edge, EdgeRequest(by_spec[dependent].address, by_spec[dependency].address))
        for dependent, dependency in edges
    )
    try:
        keys = await MultiGet(Get(Key, KeyRequest(target.address, _case(target))) for target in found)
    except Exception as error:  # a lock that cannot be installed, for example; what is affected is known without keys
        console.print_stderr(f"impact: keys are not known, since a process cannot be prepared: {_first_line(error)}")
        keys = tuple(Key("") for _ in found)
    told = {edge: reason.reason for edge, reason in zip(edges, reasons)}
    records = _Records(os.path.join(root, distdir.relpath, "test"))
    causes = {address.spec: cause for address, cause in roots.causes.items()}
    affected = []
    for target, steps, key in zip(found, ways, keys):
        same, last = key_of(records.of(target.address), key.key)
        affected.append(
            Affected(
                address=target.address.spec,
                kind=target.alias,
                steps=tuple(Step(a, b, told[a, b]) for a, b in zip(steps, steps[1:])),
                cause=causes[steps[-1]],
                key=same,
                last=last,
                failing_gates=tuple(
                    gate for gate in key.gates if gate in by_spec and records.did_not_pass(by_spec[gate].address)
                ),
            )
        )
    if subsystem.json:
        console.print_stdout(as_json(affected, change.files, change.base, roots.notes), end="")
    else:
        console.print_stdout(worded(affected, change.files, roots.notes), end="")
    return Impact(exit_code=0)


class _Records:
    """The records that earlier runs left below dist/. They say what was, and never what is."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def of(self, address: Address) -> bytes | None:
        try:
            with open(os.path.join(self._folder, address.path_safe_spec, "record.json"), "rb") as file:
                return file.read()
        except OSError:
            return None

    def did_not_pass(self, address: Address) -> bool:
        _, last = key_of(self.of(address), "")
        return last not in ("", "passed")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _has_verdict(target: Target) -> bool:
    return _case(target) is not None or target.has_field(GateSourceField) or target.has_field(TypingPackagesField)


def _case(target: Target) -> AnyCase | None:
    return next((kind.create(target) for kind in KINDS if kind.is_applicable(target)), None)


def rules():
    return collect_rules()
