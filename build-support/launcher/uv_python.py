"""CPython by uv, where GitHub answers: uv's builds come from there. uv is that on PATH, or its wheel's."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from launcher import cache, interpreters, pins, tool, wheels
from launcher.report import say, tail


def provide(version: str, root: Path, python: Path, bootstrap: Path) -> Path | None:
    """The binary of a CPython `version` below `root`, or None, said aloud, if uv could not install it."""
    final = root / "interpreters" / f"cpython-{version}-uv"
    found = _find(final, version)
    if found is not None:
        return found
    say(f"CPython {version}: installing with uv (30 MB), for private use.")
    with tempfile.TemporaryDirectory() as scratch, cache.building(final) as folder:
        settings = {
            "UV_PYTHON_INSTALL_DIR": str(folder),
            "UV_PYTHON_INSTALL_BIN": "0",
            "UV_CACHE_DIR": f"{scratch}/cache",
            "UV_NO_CONFIG": "1",
        }
        uv = shutil.which("uv") or _from_wheel(Path(scratch), python, bootstrap)
        command = [uv, "python", "install", f"cpython-{version}-linux-x86_64-gnu"]
        done = tool.run(command, environment={**os.environ, **settings})
    found = _find(final, version)
    if found is None:
        say(f"uv could not install CPython {version} ({tail(done.output, 2)}).")
        shutil.rmtree(final, ignore_errors=True)
    return found


def _find(folder: Path, version: str) -> Path | None:
    for binary in sorted(folder.glob(f"cpython-{version}.*/bin/python{version}")):
        real = interpreters.probe(binary, version)
        if real is not None:
            return real
    return None


def _from_wheel(scratch: Path, python: Path, bootstrap: Path) -> str:
    wheels.download(wheels.pinned_pip(python, bootstrap), pins.part("uv.lock"), scratch)
    with zipfile.ZipFile(next(scratch.glob("uv-*.whl"))) as archive:
        member = next(name for name in archive.namelist() if name.endswith("/scripts/uv"))
        program = scratch / "uv"
        program.write_bytes(archive.read(member))
    program.chmod(0o755)
    return str(program)
