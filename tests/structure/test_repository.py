"""Gate: what holds for every file: no machine's paths, no registry in a lock, readable length, names that say
something, docstrings."""

from __future__ import annotations

from pathlib import Path

from rules import repository
from rules.files import each_tree, nothing_to_check, parse, read, top_level
from rules.finding import hold

ROOT = Path.cwd()
FOLDERS = ("src", "tests", "evals", "build-support", "3rdparty")
WHERE_THERE = (".ci", ".github")
FILES = (*read(ROOT, (*FOLDERS, *WHERE_THERE)), *top_level(ROOT))
SOURCES = tuple(file for file in FILES if file.path.startswith("src/") and file.path.endswith(".py"))


def test_every_folder_is_there_to_be_checked() -> None:
    seen = {folder: [file for file in FILES if file.path.startswith(f"{folder}/")] for folder in FOLDERS}
    hold(
        "repository",
        [finding for folder, files in seen.items() for finding in nothing_to_check(files, folder)],
    )


def test_every_file_keeps_the_rules_of_the_repository() -> None:
    hold("repository", [finding for file in FILES for finding in repository.check(file)])


def test_every_package_of_src_says_what_it_is_for() -> None:
    hold("repository", each_tree(SOURCES, parse) or repository.undocumented(SOURCES))
