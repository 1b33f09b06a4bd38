"""The copy of the repository that the bench works on, and the cases that it makes there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

FOLDER = "evals/bench"
BARE = "evals/integration/recall_from_history"
"""A recorded case without plugins, as a path without its ending."""

WITH_PLUGIN = "evals/integration/recalled_memory"
"""A recorded case that is composed with the plugin `memory`."""

PLUGIN_FILE = "src/bosun/plugins/memory/store.py"


def copy_repository(root: Path, to: Path) -> None:
    """Copy what git knows of the working tree, and what is new in it and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout
    for name in {entry.decode() for entry in listed.split(b"\0") if entry}:
        source = root / name
        if source.is_file():  # not deleted in the working tree
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)


def make_cases(root: Path, count: int, with_plugin: int) -> None:
    """Make `count` cases, of which the last `with_plugin` are composed with the plugin."""
    folder = root / FOLDER
    folder.mkdir()
    (folder / "BUILD").write_text('eval_cases()\n\nrecordings(name="recordings")\n', encoding="utf-8")
    for number in range(count):
        model = WITH_PLUGIN if number >= count - with_plugin else BARE
        for ending in (".yaml", ".recording.json"):
            shutil.copyfile(root / f"{model}{ending}", root / f"{case_path(number)[: -len('.yaml')]}{ending}")


def case_path(number: int) -> str:
    """Return the path of a generated case, from the repository's top."""
    return f"{FOLDER}/case_{number:04}.yaml"


def edit(file: Path, line: str) -> None:
    """Add a line that changes a file's bytes and nothing else."""
    with file.open("a", encoding="utf-8") as handle:
        handle.write(f"{line}\n")
