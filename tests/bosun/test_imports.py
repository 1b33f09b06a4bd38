"""Slow imports happen only where they are used."""

from __future__ import annotations

import subprocess
import sys


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after a statement."""
    program = f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


def test_an_app_imports_no_migrations_tool_no_server_and_no_embedded_store() -> None:
    """Cases run on a prepared database and bring their own transport."""
    assert not loaded_by("import bosun.app") & {
        "alembic",
        "uvicorn",
        "embedded_services",
        "pydantic_settings",
        "seatrial",
    }


def test_the_contracts_and_the_schema_head_are_cheap_to_ask_for() -> None:
    """Loading a case asks for them before anything runs."""
    asked = "import bosun.contracts, bosun.stores.migrations; bosun.stores.migrations.migrations_fingerprint()"
    assert not loaded_by(asked) & {"openai", "fastapi", "sqlalchemy", "redis", "alembic"}
