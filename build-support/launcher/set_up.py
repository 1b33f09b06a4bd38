"""The order of a set-up: interpreters, Pants, the Pex tool, and last of all the stamp that `/pants` reads."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from launcher import cache, debian, github, install, interpreters, pex_cli, uv_python, wheels
from launcher.report import SetUpError, say, say_error

_PANTS_PYTHON = "3.9"  # Pants 2.17 runs on no other
_PROJECT_PYTHON = "3.11"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="launcher", description=__doc__)
    parser.add_argument("--stamp", type=Path, required=True, help="the file to write: CACHE/ready/KEY")
    stamp: Path = parser.parse_args(arguments).stamp
    root = stamp.parent.parent
    started = time.monotonic()
    try:
        with cache.exclusive(root):
            if is_usable(stamp):  # another start was faster
                return 0
            say(f"setting up Pants 2.17.1 in '{root}', once; later starts are silent.")
            cache.sweep(root)
            cache.write_file(stamp, _set_up(root))
    except SetUpError as error:
        say_error(error)
        return 1
    except OSError as error:
        cure = "check the disk's free space and permissions, or set SEATRIAL_CACHE to another folder"
        say_error(SetUpError(f"writing to '{root}' failed", str(error), cure))
        return 1
    except KeyboardInterrupt:
        say("set-up interrupted; nothing half-written is left. Run this again to start it anew.")
        return 130
    say(f"ready after {time.monotonic() - started:.0f} s.")
    return 0


def is_usable(stamp: Path) -> bool:
    """The same check as that of `/pants`: everything that the stamp needs is there."""
    try:
        lines = stamp.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return all(os.path.exists(line[len("need=") :]) for line in lines if line.startswith("need="))


def stamp_text(python: Path, program: Path, needs: list[Path], settings: dict[str, str]) -> str:
    lines = [f"need={path}" for path in (python, program, *needs)]
    lines += [f"python={python}", f"program={program}"]
    lines += [f"env={name}={value}" for name, value in settings.items()]
    return "".join(line + "\n" for line in lines)


def _set_up(root: Path) -> str:
    found = {version: interpreters.find(version, os.environ) for version in (_PANTS_PYTHON, _PROJECT_PYTHON)}
    for version, binary in found.items():
        where = f"found '{binary}'" if binary else "not found on PATH, in pyenv or uv"
        say(f"CPython {version}: {where}.")
    pythons = [Path(sys.executable), *(binary for binary in found.values() if binary)]
    bootstrap = wheels.bootstrap(root, pythons)
    github_answers = github.answers()
    binaries = {
        version: binary or _provide(version, root, bootstrap, github_answers)
        for version, binary in found.items()
    }
    environment = install.install_pants(root, binaries[_PANTS_PYTHON], bootstrap)
    python = environment / "bin" / "python"
    search_path = [str(binaries[_PROJECT_PYTHON]), str(binaries[_PANTS_PYTHON])]
    settings = {"PANTS_PYTHON_BOOTSTRAP_SEARCH_PATH": json.dumps(search_path)}
    needs = list(binaries.values())
    if not github_answers:
        pex = pex_cli.build(root, python, bootstrap)
        needs.append(pex)
        settings.update(pex_cli.settings(pex))
    return stamp_text(python, environment / "bin" / "pants", needs, settings)


def _provide(version: str, root: Path, bootstrap: Path, github_answers: bool) -> Path:
    by_uv = uv_python.provide(version, root, Path(sys.executable), bootstrap) if github_answers else None
    return by_uv or debian.provide(version, root, bootstrap)
