"""Targets that hold for the code: structure, typing, properties, and tests that run no agent."""

from __future__ import annotations

from pants.backend.python.target_types import (
    InterpreterConstraintsField,
    PythonDependenciesField,
    PythonGeneratingSourcesBase,
    PythonResolveField,
    PythonSourceField,
)
from pants.engine.target import (
    COMMON_TARGET_FIELDS,
    AsyncFieldMixin,
    Dependencies,
    OverridesField,
    StringField,
    StringSequenceField,
    Target,
    TargetFilesGenerator,
)

from seatrial_build.targets.fields import ReadsField, SealField, TimeoutField

_MOVED_FIELDS = (
    InterpreterConstraintsField,
    PythonDependenciesField,
    PythonResolveField,
    ReadsField,
    SealField,
    TimeoutField,
)


class GateSourceField(PythonSourceField):
    """A pytest file. Not a `PythonTestSourceField`: stock pytest would run it a second time, unsealed."""


class StructureGateSourceField(GateSourceField):
    help = "A pytest file that checks how the code is built, for example `layers_test.py`."


class PropertyGateSourceField(GateSourceField):
    help = "A pytest file of hypothesis properties, for example `key_test.py`."


class UnitTestSourceField(GateSourceField):
    help = "A pytest file that runs no agent, for example `replay_test.py`."


class GateGeneratingSourcesField(PythonGeneratingSourcesBase):
    default = ("*_test.py", "test_*.py")
    help = "The pytest files. Each becomes a target of its own."


class GateOverridesField(OverridesField):
    help = (
        "Fields of single files, by file name: "
        '`overrides={"test_a.py": {"dependencies": ["src/shop/till.py"]}}` for a test that names in a text what it '
        "imports in a process of its own."
    )


class StructureGate(Target):
    alias = "structure_gate"
    core_fields = (*COMMON_TARGET_FIELDS, StructureGateSourceField, *_MOVED_FIELDS)
    help = (
        "One pytest file that checks the structure of the repository: import contracts, ratchets, rules about "
        "clocks and secrets. It runs sealed; its verdict is passed, failed, unsealed or broken."
    )


class StructureGates(TargetFilesGenerator):
    alias = "structure_gates"
    core_fields = (*COMMON_TARGET_FIELDS, GateGeneratingSourcesField, GateOverridesField)
    generated_target_cls = StructureGate
    copied_fields = COMMON_TARGET_FIELDS
    moved_fields = _MOVED_FIELDS
    help = "Generate a `structure_gate` for each file."


class PropertyGate(Target):
    alias = "property_gate"
    core_fields = (*COMMON_TARGET_FIELDS, PropertyGateSourceField, *_MOVED_FIELDS)
    help = (
        "One pytest file of hypothesis properties. In the gate they are derandomized, without a database and "
        "without a deadline, so that equal code gives equal verdicts."
    )


class PropertyGates(TargetFilesGenerator):
    alias = "property_gates"
    core_fields = (*COMMON_TARGET_FIELDS, GateGeneratingSourcesField, GateOverridesField)
    generated_target_cls = PropertyGate
    copied_fields = COMMON_TARGET_FIELDS
    moved_fields = _MOVED_FIELDS
    help = "Generate a `property_gate` for each file."


class UnitTest(Target):
    alias = "unit_test"
    core_fields = (*COMMON_TARGET_FIELDS, UnitTestSourceField, *_MOVED_FIELDS)
    help = "One pytest file that runs no agent. It runs sealed, and a test that is skipped makes it *broken*."


class UnitTests(TargetFilesGenerator):
    alias = "unit_tests"
    core_fields = (*COMMON_TARGET_FIELDS, GateGeneratingSourcesField, GateOverridesField)
    generated_target_cls = UnitTest
    copied_fields = COMMON_TARGET_FIELDS
    moved_fields = _MOVED_FIELDS
    help = "Generate a `unit_test` for each file."


class TypingPackagesField(StringSequenceField, AsyncFieldMixin):
    alias = "packages"
    required = True
    help = (
        'The folders, from the repository\'s top, whose Python files are checked, for example `["src/bosun"]`. '
        "Whoever changes a file in them, or one that they import, finds this gate by `--changed-since`."
    )


class TypingDependenciesField(Dependencies):
    help = "What is needed to check the packages beside what they import: type stubs, plugins of the checker."


class TypingRootsField(StringSequenceField):
    alias = "roots"
    default = ()
    help = (
        "Folders that modules are imported from by their bare names, beside those in `mypy.ini`: a folder of tests "
        "whose files import the modules beside them."
    )


class TypingPythonField(StringField):
    alias = "python_version"
    default = "3.11"
    help = "The Python version that the packages are checked for."


class TypingGate(Target):
    alias = "typing_gate"
    core_fields = (
        *COMMON_TARGET_FIELDS,
        TypingPackagesField,
        TypingDependenciesField,
        TypingRootsField,
        TypingPythonField,
        SealField,
        TimeoutField,
    )
    help = "Check packages with mypy, strictly. It runs sealed; its verdict is passed, failed, unsealed or broken."


TARGET_TYPES = (
    PropertyGate,
    PropertyGates,
    StructureGate,
    StructureGates,
    TypingGate,
    UnitTest,
    UnitTests,
)
