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


def rules():
    return (
        *ancestor_files.rules(),
        *dependency_inference_rules.rules(),
        *pex.rules(),
        *pex_from_targets.rules(),
        *python_requirements.rules(),
        *python_sources.rules(),
        *target_types_rules.rules(),
    )


def target_types():
    return (
        PythonRequirementTarget,
        PythonRequirementsTargetGenerator,
        PythonSourceTarget,
        PythonSourcesGeneratorTarget,
        TargetGeneratorSourcesHelperTarget,
    )
