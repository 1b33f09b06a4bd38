"""Propose BUILD targets for folders of cases, in YAML and in Python, that no target owns yet."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from pants.core.goals.tailor import AllOwnedSources, PutativeTarget, PutativeTargets, PutativeTargetsRequest
from pants.engine.fs import DigestContents, PathGlobs, Paths
from pants.engine.rules import Get, MultiGet, collect_rules, rule
from pants.engine.unions import UnionRule
from pants.util.dirutil import group_by_dir
from pants.util.logging import LogLevel

from seatrial_build.core.functions import is_eval
from seatrial_build.core.references import is_case
from seatrial_build.rules.map_owners import OwnersByPath
from seatrial_build.rules.read_yaml import read_yaml
from seatrial_build.targets.cases import EvalCases, Recordings, RecordingsSourcesField
from seatrial_build.targets.evals import EvalTests


@dataclass(frozen=True)
class PutativeCasesRequest(PutativeTargetsRequest):
    """Asks which folders hold cases or recordings that no target owns."""


@rule(desc="Find cases that no target owns", level=LogLevel.DEBUG)
async def find_putative_cases(
    request: PutativeCasesRequest, owned: AllOwnedSources, owners: OwnersByPath
) -> PutativeTargets:
    yaml, python, recorded = await MultiGet(
        Get(Paths, PathGlobs, request.path_globs("*.yaml")),
        Get(Paths, PathGlobs, request.path_globs("test_*.py")),
        Get(Paths, PathGlobs, request.path_globs("*.recording.json")),
    )
    contents, texts = await MultiGet(
        Get(DigestContents, PathGlobs(sorted({*yaml.files} - {*owned}))),
        Get(DigestContents, PathGlobs(sorted({*python.files} - {*owned}))),
    )
    cases = group_by_dir(file.path for file in contents if is_case(read_yaml(file.content)))
    evals = group_by_dir(file.path for file in texts if is_eval(file.content))
    recordings: defaultdict[str, set[str]] = defaultdict(set, group_by_dir({*recorded.files} - {*owned}))
    for folder in (*cases, *evals):
        recordings[folder] |= set()
    # A new case has no recording yet. Its folder gets the target all the same, for the one that will be made.
    have = {field.address.spec_path for field in owners.generating if isinstance(field, RecordingsSourcesField)}
    found = [
        PutativeTarget.for_target_type(EvalCases, path=folder, name=None, triggering_sources=sorted(files))
        for folder, files in cases.items()
    ]
    found += [
        PutativeTarget.for_target_type(
            # A folder of both kinds needs a second name.
            EvalTests,
            path=folder,
            name="python" if folder in cases else None,
            triggering_sources=sorted(files),
        )
        for folder, files in evals.items()
    ]
    found += [
        PutativeTarget.for_target_type(Recordings, path=folder, name="recordings", triggering_sources=sorted(files))
        for folder, files in recordings.items()
        if folder not in have
    ]
    return PutativeTargets(found)


def rules():
    return [*collect_rules(), UnionRule(PutativeTargetsRequest, PutativeCasesRequest)]
