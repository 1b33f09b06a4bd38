"""Targets for evals in Python: one test function is one target."""

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
    OverridesField,
    StringField,
    StringSequenceField,
    Target,
    TargetGenerator,
)

from seatrial_build.targets.fields import (
    BesideBusyCoreField,
    BindingField,
    GatesField,
    ReadsField,
    RepeatField,
    SealField,
    TimeoutField,
)


class EvalTestSourceField(PythonSourceField):
    """A pytest file. Not a `PythonTestSourceField`: stock pytest would run it a second time, unsealed."""

    help = "The pytest file of the eval, for example `test_steering.py`."


class EvalTestFunctionField(StringField):
    alias = "function"
    required = True
    help = "The one test function of the file that this target runs, for example `test_stops_a_running_turn`."


class EvalTestGeneratingSourcesField(PythonGeneratingSourcesBase):
    default = ("test_*.py",)
    help = "The pytest files. Each of their test functions becomes a target of its own."


class EvalPluginsField(StringSequenceField, AsyncFieldMixin):
    alias = "plugins"
    help = (
        "All plugins that the agent of this eval may be composed with, in the words of its `binding.yaml`, which says "
        "what their modules and gates are. Unset: those of the binding's default composition. A test that composes "
        "another one is *invalid*."
    )


class EvalTestOverridesField(OverridesField):
    help = (
        "Fields of single files, by file name, and of single functions, by file and function, which come first: "
        '`overrides={"test_a.py": {"timeout": 60}, "test_a.py/test_one": {"plugins": ["memory"]}}`.'
    )


_MOVED_FIELDS = (
    BesideBusyCoreField,
    BindingField,
    EvalPluginsField,
    GatesField,
    InterpreterConstraintsField,
    PythonDependenciesField,
    PythonResolveField,
    ReadsField,
    RepeatField,
    SealField,
    TimeoutField,
)


class EvalTest(Target):
    alias = "eval_test"
    core_fields = (*COMMON_TARGET_FIELDS, EvalTestSourceField, EvalTestFunctionField, *_MOVED_FIELDS)
    help = (
        "One eval in Python: a test function that runs the agent by the fixtures `run` and `agent`. It runs sealed, "
        "in a process of its own, after its gates, with the answers of its recording "
        "(`<file>.<function>.recording.json`). `./pants record` makes the recording."
    )


class EvalTests(TargetGenerator):
    alias = "eval_tests"
    core_fields = (*COMMON_TARGET_FIELDS, EvalTestGeneratingSourcesField, EvalTestOverridesField)
    generated_target_cls = EvalTest
    copied_fields = COMMON_TARGET_FIELDS
    moved_fields = _MOVED_FIELDS
    help = "Generate an `eval_test` for each test function: `evals/python#test_a.py/test_one`."


TARGET_TYPES = (EvalTest, EvalTests)
