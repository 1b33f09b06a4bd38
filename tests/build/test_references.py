"""What a case and its binding name is found, with its line; what is wrong in them harms nobody."""

from __future__ import annotations

import dataclasses

import pytest
from seatrial_build.core.binding import Binding, read_binding
from seatrial_build.core.references import (
    CaseReferences,
    Reference,
    is_case,
    neighbours_of,
    path_of,
    read_references,
    recording_of,
    recording_of_test,
)
from seatrial_build.rules.read_yaml import read_yaml

CASE = b"""\
purpose: P
agent:
  plugins: [memory,
            web]
snapshot: fixtures/accounts/standard.yaml
turns:
  - send: {web_message: hi}
recorded_history: fixtures/conversations/planning.json
"""

BINDING = b"""\
binding: bosun_binding.binding:BosunBinding
root: evals
default: {plugins: [memory]}
plugins: {memory: bosun.plugins.memory, web: bosun.plugins.web}
plugin_gates: {memory: ["//tests:memory"], web: ["//tests:web", "//tests:http"]}
"""

UNREADABLE = [
    b"",
    b"\xff\xfe",
    b"a: [",
    b"a: b: c",
    b"- 1\n- 2",
    b"just a word",
    b"a: &x [*x]",
    b"agent: {plugins: memory}\nsnapshot: [a]",
    b"agent: memory\nsnapshot:",
    b"[" * 5000,
]


def test_plugins_and_files_are_found_with_their_lines() -> None:
    found = read_references(read_yaml(CASE))
    assert found.files == (
        Reference("snapshot", "fixtures/accounts/standard.yaml", 5),
        Reference("recorded_history", "fixtures/conversations/planning.json", 8),
    )
    assert found.plugins == (Reference("agent.plugins", "memory", 3), Reference("agent.plugins", "web", 4))


def test_a_case_that_names_no_plugins_leaves_them_to_the_binding() -> None:
    assert read_references(read_yaml(b"purpose: P")).plugin_names is None
    assert read_references(read_yaml(b"agent: {plugins: []}")).plugin_names == ()


@pytest.mark.parametrize("content", UNREADABLE)
def test_a_case_that_cannot_be_read_refers_to_nothing(content: bytes) -> None:
    found = read_references(read_yaml(content))
    assert found.files == ()
    assert not found.plugins


@pytest.mark.parametrize("content", [*UNREADABLE, b"display_name: Acme", b"turns:", b"turns: {send: hi}", b"- turns"])
def test_what_sends_nothing_is_no_case(content: bytes) -> None:
    assert is_case(read_yaml(CASE))
    assert not is_case(read_yaml(content))


@pytest.mark.parametrize("content", [content for content in UNREADABLE if b"agent" not in content])
def test_a_binding_that_cannot_be_read_names_nothing(content: bytes) -> None:
    assert read_binding(read_yaml(content)) == Binding()


def test_a_composition_brings_its_modules_and_its_gates() -> None:
    binding = read_binding(read_yaml(BINDING))
    assert binding.module == "bosun_binding.binding"
    assert binding.root == "evals"
    assert binding.modules_of(None) == ("bosun.plugins.memory",)
    assert binding.gates_of(None) == ("//tests:memory",)
    assert binding.modules_of(("web", "unknown")) == ("bosun.plugins.web",)
    assert binding.gates_of(("web",)) == ("//tests:web", "//tests:http")
    assert binding.modules_of(()) == ()


def test_a_plugin_of_several_modules_brings_all_of_them() -> None:
    text = b"plugins: {memory: [agent.memory, binding.memory_setup], web: agent.web, lost: {is: no}, bare: }"
    binding = read_binding(read_yaml(text))
    assert binding.modules_of(("web", "memory")) == ("agent.web", "agent.memory", "binding.memory_setup")
    assert binding.modules_of(("lost", "bare")) == ()


@pytest.mark.parametrize("modules", [b"[]", b"[[agent.memory]]", b"[{a: b}]", b"''", b"[agent.memory, [x], '']"])
def test_what_names_no_module_is_left_out_of_a_plugin(modules: bytes) -> None:
    found = read_binding(read_yaml(b"plugins: {memory: %s}" % modules)).modules_of(("memory",))
    assert found == (("agent.memory",) if modules.startswith(b"[agent") else ())


def test_words_that_a_case_may_say_and_the_build_does_not_know_name_nothing() -> None:
    told = b"setup:\n  - memory: {text: fixtures/a.yaml, about: team}\nlater:\n  - advance: 7d\n    snapshot: b.yaml\n"
    assert read_references(read_yaml(told)) == CaseReferences()
    assert read_references(read_yaml(told + CASE)) == CaseReferences(
        tuple(dataclasses.replace(file, line=file.line + 5) for file in read_references(read_yaml(CASE)).files),
        (Reference("agent.plugins", "memory", 8), Reference("agent.plugins", "web", 9)),
    )


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("fixtures/a.yaml", "evals/fixtures/a.yaml"),
        ("./fixtures/../b.yaml", "evals/b.yaml"),
        ("../src/a.py", "src/a.py"),
        ("../../etc/passwd", None),
        ("/etc/passwd", None),
        ("..", None),
        ("fixtures/*.yaml", None),
        ("!fixtures/a.yaml", None),
    ],
)
def test_files_are_relative_to_the_bindings_root_and_inside_the_repository(value: str, path: str | None) -> None:
    assert path_of(Reference("snapshot", value, 1), "evals") == path


def test_a_missing_file_has_the_files_of_its_folder_as_neighbours() -> None:
    assert neighbours_of("evals/fixtures/accounts/standrd.yaml", "evals") == "evals/fixtures/**/*.yaml"
    assert neighbours_of("evals/standrd.yaml", "evals") == "evals/*.yaml"
    assert neighbours_of("elsewhere/data/x.yaml", "evals") == "elsewhere/data/*.yaml"


def test_the_recording_lies_beside_its_case() -> None:
    assert recording_of("evals/integration/recall.yaml") == "evals/integration/recall.recording.json"
    assert recording_of("evals/v1.2.yaml") == "evals/v1.2.recording.json"


def test_the_recording_of_a_python_eval_names_its_file_and_its_function() -> None:
    assert recording_of_test("evals/x/test_a.py", "test_one") == "evals/x/test_a.test_one.recording.json"
    assert recording_of_test("test_v1.2.py", "test_one") == "test_v1.2.test_one.recording.json"


def test_nothing_named_is_the_same_as_nothing_read() -> None:
    assert read_references(None) == CaseReferences()
