"""The Pex tool, built once from its wheel, for machines that do not reach GitHub, where Pants would fetch it.

The build is reproducible (the same bytes with each CPython 3.9), so it does not set cache keys apart.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from launcher import cache, pins, tool
from launcher.report import SetUpError, say, tail

VERSION = "2.1.137"  # the one that Pants 2.17.1 asks for


def build(root: Path, python: Path, bootstrap: Path) -> Path:
    """The Pex file. `python` is that of Pants' virtual environment, which has the same pex as a library."""
    final = root / "pex" / pins.digest_of(pins.part("bootstrap.lock").read_bytes(), VERSION.encode())
    file = final / "pex"
    if file.is_file():
        return file
    say("Pex: GitHub does not answer, so building the tool from its wheel (4 MB, offline).")
    with cache.building(final) as folder, tempfile.TemporaryDirectory() as scratch:
        command = [str(python), "-I", "-m", "pex", f"pex=={VERSION}", "-c", "pex", "-o", str(folder / "pex")]
        command += ["--no-index", "--find-links", str(bootstrap), "--pex-root", scratch]
        command += ["--python-shebang", "/usr/bin/env python3"]
        done = tool.run(command)
        if done.code != 0:
            raise SetUpError(
                "the Pex tool was not built", tail(done.output), f"remove '{root}', then try again"
            )
    return file


def settings(file: Path) -> dict[str, str]:
    """The environment that makes Pants take this file."""
    known = f"v{VERSION}|linux_x86_64|{pins.sha256_of(file)}|{file.stat().st_size}"
    return {
        "PANTS_PEX_CLI_URL_TEMPLATE": file.as_uri(),
        "PANTS_PEX_CLI_KNOWN_VERSIONS": f'["{known}"]',
    }
