"""Setup data by kind: which plugin each belongs to, and the module that stores it.

That module knows the plugin, so it is imported by name, and only for an agent that is composed with the plugin: a case
without it does not depend on its code.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from bosun.plugins import PluginHost
from seatrial.nearest import did_you_mean


@dataclass(frozen=True)
class SetupKind:
    """A kind of setup data: the plugin that it needs, and the module that knows how it is stored."""

    plugin: str
    module: str


KINDS = {"memory": SetupKind("memory", "bosun_binding.memory_setup")}


class SetupModule(Protocol):
    """What the module of a kind holds."""

    def check(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return every mistake in the data, in words."""

    def people(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the people that the data is about, or from. They are made known before it is stored."""

    async def insert(self, data: Mapping[str, Any], *, account_id: str, host: PluginHost) -> None:
        """Store the data by the function that the plugin itself uses."""


def check_setup(kind: str, data: Mapping[str, Any], plugins: tuple[str, ...]) -> tuple[str, ...]:
    """Return every mistake in one piece of setup data for an agent with these plugins, in words."""
    known = KINDS.get(kind)
    if known is None:
        return (f"there is no setup data '{kind}'{did_you_mean(kind, KINDS)}",)
    if known.plugin not in plugins:
        return (
            f"setup data '{kind}' needs the plugin '{known.plugin}', and the agent is composed with "
            f"{', '.join(plugins) or 'no plugin'}; add it: in YAML 'agent: {{plugins: [{known.plugin}]}}', "
            f'in Python agent(plugins=["{known.plugin}"])',
        )
    return setup_module(kind).check(data)


def setup_module(kind: str) -> SetupModule:
    """Import the module of a kind."""
    return cast(SetupModule, importlib.import_module(KINDS[kind].module))
