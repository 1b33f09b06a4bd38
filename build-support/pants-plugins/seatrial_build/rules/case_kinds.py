"""The kinds of cases: a YAML file, or a test function of a Python file. What is done with them is the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from pants.backend.python.target_types import PythonDependenciesField
from pants.core.goals.test import TestFieldSet
from pants.engine.target import Tags

from seatrial_build.core import places
from seatrial_build.core.lanes import command_in, lane_of
from seatrial_build.core.references import recording_of, recording_of_test
from seatrial_build.targets.cases import CaseDependenciesField, CaseSourceField
from seatrial_build.targets.evals import EvalPluginsField, EvalTestFunctionField, EvalTestSourceField
from seatrial_build.targets.fields import (
    BesideBusyCoreField,
    BindingField,
    GatesField,
    ReadsField,
    RepeatField,
    SealField,
    TimeoutField,
)


@dataclass(frozen=True)
class CaseFieldSet(TestFieldSet):
    """One case in YAML."""

    required_fields = (CaseSourceField, BindingField)
    kind = "eval_case"
    runner = places.CASE_RUNNER

    source: CaseSourceField
    binding: BindingField
    dependencies: CaseDependenciesField
    beside_busy_core: BesideBusyCoreField
    gates: GatesField
    repeat: RepeatField
    seal: SealField
    tags: Tags
    timeout: TimeoutField

    @property
    def path(self) -> str:
        """The path, from the repository's top, of the file that the case is written in."""
        return self.source.file_path

    @property
    def recording(self) -> str:
        """The path of the case's recording, which need not be there."""
        return recording_of(self.path)

    @property
    def lane(self) -> str:
        """The lane that it is in; empty: it runs with the rest."""
        return lane_of(self.tags.value)

    def words(self, plugins: tuple[str, ...]) -> tuple[str, ...]:
        """What its runner is told of it alone."""
        return (self.path, *_command(self.lane))


@dataclass(frozen=True)
class EvalTestFieldSet(TestFieldSet):
    """One eval in Python."""

    required_fields = (EvalTestSourceField, EvalTestFunctionField, BindingField)
    kind = "eval_test"
    runner = places.TEST_RUNNER

    source: EvalTestSourceField
    function: EvalTestFunctionField
    binding: BindingField
    dependencies: PythonDependenciesField
    beside_busy_core: BesideBusyCoreField
    gates: GatesField
    plugins: EvalPluginsField
    reads: ReadsField
    repeat: RepeatField
    seal: SealField
    tags: Tags
    timeout: TimeoutField

    @property
    def path(self) -> str:
        """The path, from the repository's top, of the test file."""
        return self.source.file_path

    @property
    def name(self) -> str:
        """The name of the test function."""
        assert self.function.value is not None
        return self.function.value

    @property
    def recording(self) -> str:
        """The path of the test's recording, which need not be there."""
        return recording_of_test(self.path, self.name)

    @property
    def lane(self) -> str:
        """The lane that it is in; empty: it runs with the rest."""
        return lane_of(self.tags.value)

    def words(self, plugins: tuple[str, ...]) -> tuple[str, ...]:
        """What its runner is told of it alone. `plugins` are all that it may compose."""
        return (self.path, f"--function={self.name}", f"--plugins={','.join(plugins)}", *_command(self.lane))


def _command(lane: str) -> tuple[str, ...]:
    """What a runner is told of how people start it, where they do so otherwise than they start the rest."""
    return (f"--command={command_in(lane, places.COMMAND)}",) if lane else ()


AnyCase = Union[CaseFieldSet, EvalTestFieldSet]
KINDS = (CaseFieldSet, EvalTestFieldSet)
