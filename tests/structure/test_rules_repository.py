"""The repository's rules on invented files, and the reading of a folder as a gate does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules import repository
from rules.files import SourceFile, each_tree, nothing_to_check, parse, read, top_level
from rules.finding import Finding, render

INDEX = "https://" + "packages.example/simple"


def seen(path: str, text: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.what) for finding in repository.check(SourceFile(path, text))]


@pytest.mark.parametrize("option", ["--index-url", "--extra-index-url", "--find-links", "--trusted-host", "-i", "-f"])
def test_an_option_that_names_an_index_is_seen_in_a_lock(option: str) -> None:
    found = seen("3rdparty/python.lock", f"{option} somewhere\nattrs==1.0 \\\n    --hash=sha256:00\n")
    assert [line for line, _ in found] == [1]


def test_an_address_is_seen_anywhere_in_a_lock_and_outside_of_comments_in_requirements() -> None:
    assert [line for line, _ in seen("3rdparty/python.lock", f"attrs==1.0\n# from {INDEX}\n")] == [2]
    assert [
        line for line, _ in seen("3rdparty/python/requirements.txt", f"attrs @ {INDEX}/a.whl\n# docs: {INDEX}\n")
    ] == [1]


def test_a_hashed_lock_without_addresses_is_left_alone() -> None:
    assert seen("3rdparty/python.lock", "attrs==1.0 ; python_version >= '3.9' \\\n    --hash=sha256:0a1b\n") == []


def test_a_path_of_a_machine_is_seen_in_any_file() -> None:
    text = "one\nsee " + "/" + "home" + "/morgan/notes\n"
    assert seen("README.md", text) == [(2, "holds the path '" + "/" + "home" + "/morgan'")]


def test_a_long_python_file_is_seen_and_one_at_the_bound_is_not() -> None:
    assert seen("src/bosun/x.py", "a = 1\n" * repository.MOST_LINES) == []
    assert seen("src/bosun/x.py", "a = 1\n" * 401) == [(0, "has 401 lines, more than 400")]
    assert seen("3rdparty/python.lock", "attrs==1\n" * 401) == []


@pytest.mark.parametrize(
    "path",
    [
        "src/bosun/utils.py",
        "src/bosun/_helpers.py",
        "src/common/x.py",
        "tests/misc/x.txt",
        "evals/Utils/a.yaml",
    ],
)
def test_a_name_that_fits_everything_is_seen(path: str) -> None:
    assert len(seen(path, "a = 1\n")) == 1


@pytest.mark.parametrize("path", ["src/bosun/common_words.py", "src/bosun/router.py", "README.md", "docs/helpers.md"])
def test_a_name_that_says_something_is_left_alone(path: str) -> None:
    assert seen(path, "a = 1\n") == []


def documented(**texts: str) -> list[str]:
    files = [SourceFile(f"src/fair/{name}.py", text) for name, text in texts.items()]
    return [finding.path for finding in repository.undocumented(files)]


def test_a_package_says_what_it_is_for_or_each_of_its_modules_does() -> None:
    said = '"""What it is for."""\n'
    assert documented(__init__=said, a="x = 1", b="x = 1") == []
    assert documented(__init__="", a=said, b=said) == []
    assert documented(__init__="", a=said, b="x = 1") == ["src/fair/b.py"]
    assert documented(a="x = 1", b="x = 1") == ["src/fair/a.py", "src/fair/b.py"]
    assert documented(__init__="") == ["src/fair/__init__.py"]


def test_a_folder_is_read_without_caches_hidden_folders_and_bytes(tmp_path: Path) -> None:
    kept = ["src/a.py", "src/deep/b.sql", ".ci/run"]
    left_out = ["src/__pycache__/a.py", "src/.hidden/c.py", "dist/d.py", "other/e.py"]
    for name in [*kept, *left_out]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "src/picture.png").write_bytes(b"\x89PNG\xff\xfe")
    (tmp_path / "README.md").write_text("read me\n")
    assert [file.path for file in read(tmp_path, ["src", ".ci", "dist", "absent"])] == [
        ".ci/run",
        "dist/d.py",
        "src/a.py",
        "src/deep/b.sql",
    ]
    assert [file.path for file in read(tmp_path, ["src"], (".py",))] == ["src/a.py"]
    assert [file.path for file in top_level(tmp_path)] == ["README.md"]


def test_a_gate_that_sees_no_file_fails() -> None:
    assert nothing_to_check([SourceFile("src/a.py", "")], "src") == []
    assert [finding.path for finding in nothing_to_check([], "src")] == ["src"]


def test_a_file_that_does_not_parse_is_a_finding_with_its_line() -> None:
    (finding,) = each_tree([SourceFile("src/a.py", "x = 1\nx x\n")], parse)
    assert finding.address == "src/a.py:2"


def test_a_message_says_what_why_and_what_to_do_once_for_each_finding_in_order() -> None:
    first, second = Finding("a.py", 9, "does x", "bad", "stop"), Finding("b.py", 0, "is y", "worse", "leave")
    assert render("gate", [second, first, second]) == (
        "gate: 2 violations\n'a.py:9' does x\n    why: bad\n    do:  stop\n'b.py' is y\n    why: worse\n    do:  leave"
    )
    assert render("gate", [first]).startswith("gate: 1 violation\n")


def test_a_module_is_named_from_its_path() -> None:
    assert SourceFile("src/bosun/log/store.py", "").module == "bosun.log.store"
    assert SourceFile("src/bosun/log/__init__.py", "").module == "bosun.log"
