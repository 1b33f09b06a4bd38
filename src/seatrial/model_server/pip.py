"""Running the pip that there is: as the machine is configured, and with nothing that could change a hashed download."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

# An empty constraints file replaces a configured one: pip ignores a variable that is set to nothing.
_UNAFFECTED = {
    "PIP_CONSTRAINT": os.devnull,
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_USER": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}
HASHED = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-cache-dir")
"""What makes pip take exactly the wheels that are named by their hashes."""


class PipMissing(Exception):
    """There is no pip; the message says what to do."""


def pip_command(cache: Path) -> list[str]:
    """A command that runs pip: this Python's own, the wheel that it brings, or that of the launcher in `cache`.

    Raises PipMissing.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    ensurepip = importlib.util.find_spec("ensurepip")
    bundled = Path(ensurepip.origin).parent / "_bundled" if ensurepip is not None and ensurepip.origin else None
    for folder, pattern in ((bundled, "pip-*.whl"), (cache / "launcher" / "bootstrap", "*/pip-*.whl")):
        for wheel in sorted(folder.glob(pattern)) if folder is not None else ():
            return [sys.executable, str(wheel / "pip")]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise PipMissing("There is no pip to fetch anything with. Install it, for example: apt-get install python3-pip")
    return [found]


def pip_environment(environment: Mapping[str, str], temporary: Path) -> dict[str, str]:
    """The environment of a pip whose own temporary files go to `temporary`, where they are removed at the end."""
    made = {**environment, **_UNAFFECTED, "TMPDIR": str(temporary)}
    certificates = environment.get("SSL_CERT_FILE", "")
    if os.path.isfile(certificates) and "PIP_CERT" not in environment:
        made.setdefault("REQUESTS_CA_BUNDLE", certificates)
    return made
