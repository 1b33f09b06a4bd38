"""The environment of the command line, read in a process of its own as the command does."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from bosun.settings import SettingsInvalid, read_settings
try:
    settings = read_settings()
    options = settings.options("postgresql:///x", "unix:///y")
except SettingsInvalid as error:
    sys.exit(str(error))
model, limits = options.model, options.limits
print((str(settings.data_dir), model.base_url, model.alias("title"), model.alias("agent")))
print((options.calendar.zone, limits.workers, limits.turn_timeout_seconds))
print((limits.slice_budget_seconds, limits.slices_per_turn, limits.automated_turns, options.cross_actor))
print((options.plugins, limits.tool_calls_per_turn))
"""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Read an environment that holds these BOSUN_ variables and no others, or run Python with these arguments in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOSUN_")}
    environment = {
        **kept,
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
        **{f"BOSUN_{name}": value for name, value in variables.items()},
    }
    return subprocess.run(
        [sys.executable, *(arguments or ("-c", PROGRAM))], env=environment, capture_output=True, text=True
    )


def test_the_options_are_what_the_environment_says() -> None:
    """Defaults stay where it says nothing."""
    done = run(
        MODEL_URL="http://127.0.0.1:9/v1",
        MODELS='{"title": "small"}',
        ZONE="Europe/Vienna",
        WORKERS="2",
        DATA_DIR="/srv/bosun",
        SLICE_BUDGET_SECONDS="30",
        SLICES_PER_TURN="7",
        AUTOMATED_TURNS="3",
        CROSS_ACTOR="steer",
        TOOL_CALLS_PER_TURN="9",
        PLUGINS="memory, automations",
    )
    assert [ast.literal_eval(line) for line in done.stdout.splitlines()] == [
        ("/srv/bosun", "http://127.0.0.1:9/v1", "small", "bosun"),
        ("Europe/Vienna", 2, 600.0),
        (30.0, 7, 3, "steer"),
        (("memory", "automations"), 9),
    ], done.stderr


def test_no_plugin_is_composed_unless_it_is_named() -> None:
    """An empty list of names is none."""
    for variables in ({}, {"PLUGINS": ""}, {"PLUGINS": " , "}):
        done = run(MODEL_URL="http://127.0.0.1:9/v1", **variables)
        assert done.stdout.splitlines()[-1] == "((), 150)", done.stderr


def test_a_plugin_that_does_not_exist_is_named_before_anything_is_started() -> None:
    """Not after the stores were."""
    done = run("-m", "bosun", "serve", MODEL_URL="http://127.0.0.1:9/v1", PLUGINS="memroy", DATA_DIR="/nonexistent/x")
    assert (done.returncode, done.stderr) == (2, "bosun: there is no plugin 'memroy'; did you mean memory?\n")


def test_without_a_model_the_sentence_says_what_to_set() -> None:
    """Nobody should have to look it up."""
    done = run()
    assert done.returncode == 1
    assert "BOSUN_MODEL_URL is not set" in done.stderr and "python -m bosun serve" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "high"), ("WORKERS", "0"), ("MAX_TOKENS", "-1"), ("TOOL_CALLS_PER_TURN", "0"), ("CROSS_ACTOR", "ignore")],
)
def test_a_value_that_cannot_be_is_named(name: str, value: str) -> None:
    """By its variable."""
    done = run(**{name: value})
    assert done.returncode == 1 and f"BOSUN_{name}: Input should be" in done.stderr


def test_a_zone_that_does_not_exist_is_named() -> None:
    """By its variable, too."""
    done = run(MODEL_URL="http://127.0.0.1:9/v1", ZONE="Mars/Olympus")
    assert done.returncode == 1 and "BOSUN_ZONE" in done.stderr


SLACK = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "hidden", "SLACK_ACCOUNT": "acme"}
SLACK_PROGRAM = PROGRAM + "print(options.slack and (options.slack, options.slack.bot_token), settings)"


def test_slack_is_configured_as_a_whole() -> None:
    """Its secrets are shown to nobody who did not ask for them by name."""
    told = run("-c", SLACK_PROGRAM, MODEL_URL="http://x/v1", SLACK_BOT_USER="UBOSUN", **SLACK).stdout
    assert "account_id='acme', bot_user_id='UBOSUN', base_url='https://slack.com/api/'" in told
    assert (told.count("xoxb-1"), told.count("hidden")) == (1, 0)
    assert "\nNone " in run("-c", SLACK_PROGRAM, MODEL_URL="http://x/v1", SLACK_BOT_TOKEN="").stdout


@pytest.mark.parametrize("left_out", SLACK)
def test_slack_by_half_is_refused(left_out: str) -> None:
    """The message names what is missing, and what is there."""
    given = {name: value for name, value in SLACK.items() if name != left_out}
    done = run(MODEL_URL="http://x/v1", **given)
    assert done.returncode == 1
    assert f"by half: BOSUN_{left_out} is not set" in done.stderr
    assert all(f"BOSUN_{name}" in done.stderr.rpartition("unset")[2] for name in given)


def test_an_address_that_slack_cannot_have_is_refused() -> None:
    """Before anything is sent to it."""
    done = run(MODEL_URL="http://x/v1", SLACK_URL="slack.com/api", **SLACK)
    assert done.returncode == 1
    assert "BOSUN_SLACK" in done.stderr
    assert "base_url" in done.stderr
