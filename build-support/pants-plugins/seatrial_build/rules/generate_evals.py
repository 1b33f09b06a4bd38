"""Generate a target for each test function of the Python evals."""

from __future__ import annotations

import posixpath

from pants.engine.fs import DigestContents, PathGlobs
from pants.engine.rules import Get, collect_rules, rule
from pants.engine.target import (
    GeneratedTargets,
    GenerateTargetsRequest,
    InvalidFieldException,
    SourcesPaths,
    SourcesPathsRequest,
)
from pants.engine.unions import UnionMembership, UnionRule
from pants.util.logging import LogLevel

from seatrial_build.core.functions import NO_FUNCTION, functions_in
from seatrial_build.targets.evals import (
    EvalTest,
    EvalTestFunctionField,
    EvalTestGeneratingSourcesField,
    EvalTestOverridesField,
    EvalTests,
    EvalTestSourceField,
)


class GenerateEvalTests(GenerateTargetsRequest):
    generate_from = EvalTests


@rule(desc="Generate a target for each Python eval", level=LogLevel.DEBUG)
async def generate_eval_tests(request: GenerateEvalTests, union_membership: UnionMembership) -> GeneratedTargets:
    generator, template_address = request.generator, request.template_address
    paths = await Get(SourcesPaths, SourcesPathsRequest(generator[EvalTestGeneratingSourcesField]))
    contents = await Get(DigestContents, PathGlobs(paths.files))
    overrides = request.require_unparametrized_overrides()
    used, made = set(), []
    for file in contents:
        source = posixpath.relpath(file.path, template_address.spec_path or ".")
        for name in [function.name for function in functions_in(file.content)] or [NO_FUNCTION]:
            key = f"{source}/{name}"
            used |= {source, key}
            fields = {
                **request.template,
                **overrides.get(source, {}),
                **overrides.get(key, {}),
                EvalTestSourceField.alias: source,
                EvalTestFunctionField.alias: name,
            }
            made.append(EvalTest(fields, template_address.create_generated(key), union_membership))
    unused = sorted({*overrides} - used)
    if unused:
        raise InvalidFieldException(
            f"The `{EvalTestOverridesField.alias}` field of {generator.address} has {', '.join(map(repr, unused))}, "
            f"and there is no such file or function. There are: {', '.join(sorted(used)) or 'none'}"
        )
    return GeneratedTargets(generator, made)


def rules():
    return [*collect_rules(), UnionRule(GenerateTargetsRequest, GenerateEvalTests)]
