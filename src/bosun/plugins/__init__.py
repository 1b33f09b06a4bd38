"""The plugin API: packages of this folder, composed by name.

A plugin is a package `bosun.plugins.<name>` with two names in it: `CONTRACTS`, the versions of its public contracts
(`tools.<name>`, and `context.<block>` for each block of its facts), and `create(host)`, which makes the plugin for one
app. A name is checked here before anything of a plugin is imported,
and only a composed plugin is imported at all.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.recall import FactBlock, RecallQuery
from bosun.tools import AnyTool

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine


class PluginUnknown(ValueError):
    """An app was composed with a plugin that does not exist."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"the plugins are: {', '.join(known) or 'none yet'}"
        super().__init__(f"there is no plugin {name!r}; {hint}")


class MessageActions(Protocol):
    """What can be done, besides writing, where people write their messages."""

    async def react(self, conversation_id: str, turn_id: str, emoji: str) -> None:
        """Put an emoji, by its name, under the message that a turn answers. Raises `ToolFailed`."""
        ...

    async def say(self, channel: str, text: str) -> None:
        """Say something in another channel, by its name or id. Raises `ToolFailed`."""
        ...


@dataclass(frozen=True, kw_only=True)
class PluginHost:
    """What an app gives to its plugins."""

    engine: AsyncEngine
    clock: Clock
    ids: IdSource
    actions: MessageActions | None = None
    """None where people write on the web alone."""


class Plugin(Protocol):
    """A plugin of one app: what it offers to the model, and what it knows."""

    @property
    def name(self) -> str:
        """The name by which it is composed."""
        ...

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """What the model may call, in the order of the requests."""
        ...

    async def recall(self, query: RecallQuery) -> FactBlock | None:
        """Return what it knows that may help, or None."""
        ...


class _Package(Protocol):
    """What a plugin's package has to hold."""

    CONTRACTS: Mapping[str, int]

    def create(self, host: PluginHost) -> Plugin:
        """Make the plugin for one app."""
        ...


def known_plugins() -> tuple[str, ...]:
    """Return the names that may be composed, in order, without importing any of them."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))


def require_known(names: Iterable[str]) -> None:
    """Raise `PluginUnknown` for the first name that is no plugin."""
    known = known_plugins()
    for name in names:
        if name not in known:
            raise PluginUnknown(name, known)


def plugin_contracts(names: Iterable[str]) -> dict[str, int]:
    """Return the contracts of these plugins, without making any of them. Raises `PluginUnknown`."""
    return {contract: version for package in _packages(names) for contract, version in package.CONTRACTS.items()}


def load_plugins(names: Iterable[str], host: PluginHost) -> tuple[Plugin, ...]:
    """Make each named plugin once, in the order of the names. Raises `PluginUnknown`."""
    return tuple(package.create(host) for package in _packages(names))


def _packages(names: Iterable[str]) -> tuple[_Package, ...]:
    once = tuple(dict.fromkeys(names))
    require_known(once)
    return tuple(cast(_Package, importlib.import_module(f"{__name__}.{name}")) for name in once)
