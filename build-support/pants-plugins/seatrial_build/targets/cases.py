"""Targets for cases: one YAML file is one target."""

from __future__ import annotations

from pants.core.target_types import FileDependenciesField, FileTarget
from pants.engine.fs import GlobMatchErrorBehavior
from pants.engine.target import (
    COMMON_TARGET_FIELDS,
    Dependencies,
    MultipleSourcesField,
    SingleSourceField,
    Target,
    TargetFilesGenerator,
)

from seatrial_build.targets.fields import (
    BesideBusyCoreField,
    BindingField,
    GatesField,
    RepeatField,
    SealField,
    TimeoutField,
)


class CaseSourceField(SingleSourceField):
    expected_file_extensions = (".yaml",)
    help = "The case, a YAML file."


class CaseGeneratingSourcesField(MultipleSourcesField):
    default = ("*.yaml",)
    expected_file_extensions = (".yaml",)
    help = "The cases. Each file becomes a target of its own."


class CaseDependenciesField(Dependencies):
    help = (
        "What a case needs beside what its YAML names. The binding, its plugins, the files that the case names, "
        "its recording and the runner are found by themselves."
    )


_MOVED_FIELDS = (
    BesideBusyCoreField,
    BindingField,
    CaseDependenciesField,
    GatesField,
    RepeatField,
    SealField,
    TimeoutField,
)


class EvalCase(Target):
    alias = "eval_case"
    core_fields = (*COMMON_TARGET_FIELDS, CaseSourceField, *_MOVED_FIELDS)
    help = (
        "One case: a YAML file that says what is sent to the agent and what has to come of it. It runs sealed, "
        "after its gates, with the answers of its recording. `./pants record` makes the recording."
    )


class EvalCases(TargetFilesGenerator):
    alias = "eval_cases"
    core_fields = (*COMMON_TARGET_FIELDS, CaseGeneratingSourcesField)
    generated_target_cls = EvalCase
    copied_fields = COMMON_TARGET_FIELDS
    moved_fields = _MOVED_FIELDS
    help = "Generate an `eval_case` for each file."


class RecordingsSourcesField(MultipleSourcesField):
    default = ("*.recording.json",)
    expected_file_extensions = (".json",)
    # A new case has no recording yet. That is *unrecorded*, which its own run says, and no mistake here.
    default_glob_match_error_behavior = GlobMatchErrorBehavior.ignore
    help = "The recordings. Each file becomes a `file` target of its own."


class Recordings(TargetFilesGenerator):
    alias = "recordings"
    core_fields = (*COMMON_TARGET_FIELDS, RecordingsSourcesField)
    generated_target_cls = FileTarget
    copied_fields = COMMON_TARGET_FIELDS
    moved_fields = (FileDependenciesField,)
    help = "The answers that were recorded for the cases of this folder; `./pants record` writes them."


TARGET_TYPES = (EvalCase, EvalCases, Recordings)
