"""Plugins are composed by name, contracts follow the composition."""

from __future__ import annotations

import pytest

from bosun.contracts import contract_versions
from bosun.limits import Limits
from bosun.plugins import PluginUnknown, known_plugins


def test_the_contracts_of_an_app_without_plugins() -> None:
    """What cases and recordings declare."""
    assert contract_versions(()) == {
        "context.account": 1,
        "context.actor": 1,
        "context.summary": 1,
        "context.time": 1,
        "decision.guardian": 1,
        "decision.router": 1,
        "output.reply": 1,
        "steps": 1,
    }


def test_a_plugin_adds_its_contracts_and_changes_no_other() -> None:
    """Once, however often it is named."""
    added = {"tools.memory": 1, "context.memories": 1}
    assert contract_versions(("memory", "memory")) == {**contract_versions(()), **added}


def test_every_package_of_the_folder_is_a_plugin() -> None:
    """Found without importing any."""
    assert known_plugins() == ("core", "memory")


def test_a_plugin_that_does_not_exist_is_named_with_its_nearest() -> None:
    """The message is all that the user sees."""
    known = ("automations", "memory")
    assert str(PluginUnknown("memroy", known)) == "there is no plugin 'memroy'; did you mean memory?"
    with pytest.raises(PluginUnknown, match="no plugin 'memroy'"):
        contract_versions(("memroy",))


@pytest.mark.parametrize("name", ["turn_timeout_seconds", "tool_calls_per_turn", "workers", "attempts"])
def test_a_limit_of_zero_is_refused_by_name(name: str) -> None:
    """It would bound everything away."""
    with pytest.raises(ValueError, match=f"limit {name} is 0"):
        Limits(**{name: 0})
