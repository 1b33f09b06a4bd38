"""The plugin `core`: what Bosun can do where people write to it, besides writing back.

Its tools are offered where the app has such a place; an app that is on the web alone has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bosun.plugins import Plugin, PluginHost

NAME: Final = "core"

CONTRACTS: Final[Mapping[str, int]] = {"tools.core": 1}
"""Of the tools' meaning."""


def create(host: PluginHost) -> Plugin:
    """Make the plugin for one app."""
    from bosun.plugins.core.plugin import CorePlugin  # whoever asks for the contracts needs no tools

    return CorePlugin(host.actions)
