"""Installs Pants, from a fully hashed lock, into a virtual environment of its own."""

from __future__ import annotations

import os
from pathlib import Path

from launcher import cache, pins, tool, wheels
from launcher.report import SetUpError, say, tail


def install_pants(root: Path, python: Path, bootstrap: Path) -> Path:
    """The virtual environment: `bin/python bin/pants` in it starts Pants. `python` is a CPython 3.9.

    Raises SetUpError with the failing tool's last words.
    """
    lock = pins.part("pants.lock")
    final = root / "pants" / pins.digest_of(lock.read_bytes(), os.fsencode(python))
    if final.is_dir():
        return final
    say("Pants 2.17.1: installing from the hashed lock (52 MB to download).")
    with cache.building(final) as folder:
        made = tool.run([str(python), "-I", "-m", "venv", "--without-pip", str(folder)])
        if made.code != 0:
            raise SetUpError(
                "the virtual environment for Pants was not made",
                tail(made.output),
                f"check the disk's free space, and that '{python}' is whole; then try again",
            )
        inside = folder / "bin" / "python"
        arguments = ["--no-deps", "--only-binary=:all:", "--no-compile", "--require-hashes", "-r", str(lock)]
        pip = wheels.pinned_pip(inside, bootstrap)
        wheels.run_pip([*pip, "install", *arguments], "Pants was not installed")
        # Compiled under the name that the folder gets, so that tracebacks show the source. Some files are
        # templates that do not compile, so its exit code says nothing.
        packages = folder / "lib" / "python3.9" / "site-packages"
        renamed = ["-s", str(folder), "-p", str(final)]
        tool.run([str(inside), "-I", "-m", "compileall", "-qq", "-j", "0", *renamed, str(packages)])
    return final
