"""The parts of Pants' Python backend that this repository uses, and no others.

`pants.backend.python` also brings packaging, publishing and repl rules. Solving their rule graph takes
most of a start without the daemon, which is what CI sees at every step; nothing here needs them.
"""

from __future__ import annotations

from pants.backend.python import target_types_rules
from pants.backend.python.dependency_inference import rules as dependency_inference_rules
from pants.backend.python.macros import python_requirements
from pants.backend.python.macros.python_requirements import PythonRequirementsTargetGenerator
from pants.backend.python.target_types import (
    PythonRequirementTarget,
    PythonSourcesGeneratorTarget,
    PythonSourceTarget,
)
from pants.backend.python.util_rules import ancestor_files, pex, pex_from_targets, python_sources
from pants.core.target_types import TargetGeneratorSourcesHelperTarget
from pants.engine.target import ValidateDependenciesRequest
from pants.engine.unions import UnionRule


def rules():
    return (
        *ancestor_files.rules(),
        *dependency_inference_rules.rules(),
        *pex.rules(),
        *pex_from_targets.rules(),
        *python_requirements.rules(),
        *python_sources.rules(),
        *(each for each in target_types_rules.rules() if not _compares_interpreters(each)),
    )


def _compares_interpreters(rule) -> bool:
    """Whether this makes a target refuse dependencies that are written for another Python.

    A gate depends on what it reads as text too, whatever Python that is for; refused, one such gate would end every
    walk through the graph. Code that cannot run on its Python says so when it runs.
    """
    return isinstance(rule, UnionRule) and rule.union_base is ValidateDependenciesRequest


def target_types():
    return (
        PythonRequirementTarget,
        PythonRequirementsTargetGenerator,
        PythonSourceTarget,
        PythonSourcesGeneratorTarget,
        TargetGeneratorSourcesHelperTarget,
    )
