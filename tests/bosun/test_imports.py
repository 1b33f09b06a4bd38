"""Slow imports happen only where they are used."""

from __future__ import annotations

import subprocess
import sys


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement, and the packages that they lie in."""
    program = f"import sys\n{statement}\nprint(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


ASKED = """
import bosun.contracts, bosun.stores.migrations
bosun.stores.migrations.migrations_fingerprint()
bosun.contracts.contract_versions({plugins})
"""
SLOW = {"openai", "fastapi", "sqlalchemy", "redis", "alembic"}


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
    assert not loaded_by(ASKED.format(plugins="()")) & SLOW
    assert not loaded_by(ASKED.format(plugins="('memory',)")) & SLOW


def test_an_app_without_plugins_imports_nothing_of_any() -> None:
    """An edited plugin changes nothing for an app that is composed without it."""
    composed = """
from bosun.app import create_app
from bosun.options import BosunOptions, ModelOptions
model = ModelOptions(base_url="http://127.0.0.1:9/v1")
create_app(BosunOptions(postgres_url="postgresql:///x", redis_url="unix:///y", model=model, plugins={plugins}))
"""
    without = loaded_by(composed.format(plugins="()"))
    assert "bosun.turn.tool_calls" in without
    assert not [name for name in without if name.startswith("bosun.plugins.")]
    assert "bosun.plugins.memory.store" in loaded_by(composed.format(plugins="('memory',)"))


SLACKS = {"slack_sdk", "markdown_it"}


def test_an_app_without_slack_imports_nothing_of_it() -> None:
    """But its options and the names of its threads; with it, only what posts and reads."""
    composed = """
from bosun.app import create_app
from bosun.options import BosunOptions, ModelOptions, SlackOptions
model = ModelOptions(base_url="http://127.0.0.1:9/v1")
slack = SlackOptions(bot_token="t", signing_secret="s", account_id="a") if {slack} else None
stores = {{"postgres_url": "postgresql:///x", "redis_url": "unix:///y"}}
create_app(BosunOptions(**stores, model=model, plugins=("core",), slack=slack))
"""
    without = loaded_by(composed.format(slack=False))
    assert not without & SLACKS
    assert {name for name in without if name.startswith("bosun.slack.")} <= {
        "bosun.slack.options",
        "bosun.slack.channel",
    }
    within = loaded_by(composed.format(slack=True))
    assert within >= SLACKS
    assert "aiohttp" not in within


LOGINS = {"authlib", "jinja2", "joserfc"}


def test_an_app_without_a_login_imports_nothing_of_it() -> None:
    """Nor of the dashboard, which is for nobody then."""
    composed = """
from bosun.app import create_app
from bosun.options import BosunOptions, LoginOptions, ModelOptions
model = ModelOptions(base_url="http://127.0.0.1:9/v1")
options = {{"client_id": "b", "client_secret": "c", "account_id": "d"}}
login = LoginOptions(issuer="https://a.example", public_url="https://e.example", **options) if {login} else None
create_app(BosunOptions(postgres_url="postgresql:///x", redis_url="unix:///y", model=model, login=login))
"""
    without = loaded_by(composed.format(login=False))
    assert not without & LOGINS
    assert {name for name in without if name.startswith(("bosun.login.", "bosun.dashboard"))} == {"bosun.login.options"}
    assert loaded_by(composed.format(login=True)) >= LOGINS | {"bosun.dashboard.pages"}
