"""Finds interpreters that work: on PATH, in pyenv's and in uv's folders.

A name on PATH proves nothing: pyenv puts a shim there for every version it has, and the shim fails unless
that version is selected. So each candidate is run, and asked for the binary behind it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from launcher import tool

# What Pants, Pex and the project import and a distribution may have left out.
PROBE = """
import os, platform, sys
import bz2, ctypes, fcntl, hashlib, lzma, multiprocessing, sqlite3, ssl, venv, zlib
if sys.version_info < (3, 10): import distutils.cmd, lib2to3  # the pip inside Pex needs them there
assert sys.implementation.name == "cpython" and not hasattr(sys, "gettotalrefcount")
assert platform.machine() == "x86_64" and sys.maxsize > 2**32
binary = getattr(sys, "_base_executable", None) or sys.executable
print("%d.%d" % sys.version_info[:2], os.path.realpath(binary))
"""
_PROBE_SECONDS = 30


def probe(executable: Path, version: str) -> Path | None:
    """The binary behind `executable` (no shim, no virtual environment), if a working CPython `version`."""
    binary = _ask(executable, version)
    if binary is None or binary == executable:
        return binary
    return _ask(binary, version)


def find(version: str, environment: Mapping[str, str]) -> Path | None:
    """The first working CPython `version` ("3.11"), or None."""
    for candidate in candidates(version, environment):
        binary = probe(candidate, version)
        if binary is not None:
            return binary
    return None


def candidates(version: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where a CPython `version` may be, best first: PATH, pyenv, uv; newest patch release first."""
    name = f"python{version}"
    for folder in environment.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            yield from _executable(Path(folder) / name)
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    pyenv = Path(environment.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    uv = Path(environment.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for pattern_root, pattern in ((pyenv / "versions", f"{version}.*"), (uv, f"cpython-{version}.*")):
        for folder_found in sorted(pattern_root.glob(pattern), key=_release, reverse=True):
            yield from _executable(folder_found / "bin" / name)


def _ask(executable: Path, version: str) -> Path | None:
    answer = tool.run([str(executable), "-I", "-c", PROBE], seconds=_PROBE_SECONDS)
    found, _, binary = answer.output.strip().rpartition("\n")[2].partition(" ")
    return Path(binary) if answer.code == 0 and found == version and binary else None


def _executable(path: Path) -> Iterator[Path]:
    if path.is_file() and os.access(path, os.X_OK):
        yield path


def _release(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", folder.name)]
