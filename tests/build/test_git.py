"""What git says of a change, asked of real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from seatrial_build.core.git import GitRefused, change_since, text_before

_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    **{f"GIT_{who}_{what}": "invented@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a repository with one commit, on the branch `main`."""
    folder = tmp_path / "repository"
    folder.mkdir()
    run(folder, "init", "--quiet", "--initial-branch=main")
    for name in ("a.py", "gone.py", "with space.py", "umläut.py", "renamed.py"):
        (folder / name).write_text(f"{name}\n" * 20, encoding="utf-8")
    run(folder, "add", "--all")
    run(folder, "commit", "--quiet", "--message=first")
    return folder


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=_ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_clean_tree_has_not_changed_since_its_own_commit(root: Path) -> None:
    assert change_since(str(root), "HEAD").files == ()


def test_edited_deleted_renamed_and_new_files_are_named_as_they_are(root: Path) -> None:
    (root / "with space.py").write_text("other\n", encoding="utf-8")
    (root / "umläut.py").write_text("other\n", encoding="utf-8")
    (root / "gone.py").unlink()
    run(root, "mv", "renamed.py", "renamed too.py")
    (root / "new file.py").write_text("new\n", encoding="utf-8")
    (root / ".gitignore").write_text("ignored.py\n", encoding="utf-8")
    (root / "ignored.py").write_text("ignored\n", encoding="utf-8")
    expected = {".gitignore", "gone.py", "new file.py", "renamed too.py", "renamed.py", "umläut.py", "with space.py"}
    assert set(change_since(str(root), "HEAD").files) == expected
    run(root, "add", "--all")
    assert set(change_since(str(root), "main").files) == expected
    run(root, "commit", "--quiet", "--message=second")
    assert set(change_since(str(root), "HEAD~1").files) == expected


def test_what_came_to_the_other_branch_since_does_not_count(root: Path) -> None:
    run(root, "switch", "--quiet", "--create", "mine")
    (root / "mine.py").write_text("mine\n", encoding="utf-8")
    run(root, "add", "--all")
    run(root, "commit", "--quiet", "--message=mine")
    run(root, "switch", "--quiet", "main")
    (root / "a.py").write_text("theirs\n", encoding="utf-8")
    run(root, "commit", "--quiet", "--all", "--message=theirs")
    run(root, "switch", "--quiet", "--detach", "mine")
    change = change_since(str(root), "main")
    assert change.files == ("mine.py",)
    assert change.base == run(root, "rev-parse", "main~1")


def test_a_file_has_the_text_that_it_had_at_the_common_ancestor(root: Path) -> None:
    before = (root / "a.py").read_text(encoding="utf-8")
    (root / "a.py").write_text("other\n", encoding="utf-8")
    change = change_since(str(root), "HEAD")
    assert text_before(str(root), change, "a.py") == before
    assert text_before(str(root), change, "never there.py") == ""


def test_a_build_below_the_repositorys_top_names_its_own_files(root: Path) -> None:
    below = root / "below"
    below.mkdir()
    (below / "b.py").write_text("before\n", encoding="utf-8")
    run(root, "add", "--all")
    run(root, "commit", "--quiet", "--message=second")
    (below / "b.py").write_text("after\n", encoding="utf-8")
    (root / "a.py").write_text("other\n", encoding="utf-8")
    change = change_since(str(below), "HEAD")
    assert change.files == ("b.py",)
    assert text_before(str(below), change, "b.py") == "before\n"


@pytest.mark.parametrize(
    ("ref", "told"), [("nowhere", "'nowhere' names no commit. Known are: main."), ("--all", "begin with a hyphen")]
)
def test_a_name_of_nothing_is_refused_with_what_there_is(root: Path, ref: str, told: str) -> None:
    with pytest.raises(GitRefused, match="names no commit") as refused:
        change_since(str(root), ref)
    assert told in str(refused.value)


def test_a_folder_outside_of_any_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitRefused, match="in no git repository"):
        change_since(str(tmp_path), "main")


def test_a_shallow_clone_without_the_common_ancestor_says_so(root: Path, tmp_path: Path) -> None:
    run(root, "switch", "--quiet", "--create", "mine")
    for name in ("one", "two"):
        (root / name).write_text(name, encoding="utf-8")
        run(root, "add", "--all")
        run(root, "commit", "--quiet", f"--message={name}")
    run(root, "switch", "--quiet", "main")
    (root / "three").write_text("three", encoding="utf-8")
    run(root, "add", "--all")
    run(root, "commit", "--quiet", "--message=three")
    clone = tmp_path / "shallow"
    source = root.as_uri()
    run(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=mine", source, str(clone))
    with pytest.raises(GitRefused, match="git fetch --unshallow"):
        change_since(str(clone), "origin/main")
