"""The public contracts of an app and their versions: what cases, fixtures and recordings are written for.

A version changes when a meaning changes, each contract's apart from the others'.
"""

from __future__ import annotations

from typing import Final

from bosun.context.blocks import BLOCK_VERSIONS
from bosun.plugins import plugin_contracts
from bosun.steps import STEPS_VERSION

OUTPUT_REPLY_VERSION: Final = 1
"""Of the reply: plain text, or the sentinel that means no reply, alone."""


def contract_versions(plugins: tuple[str, ...] = ()) -> dict[str, int]:
    """Return every contract of an app composed with these plugins. Raises `PluginUnknown`."""
    versions = {f"context.{name}": version for name, version in BLOCK_VERSIONS.items()}
    versions["output.reply"] = OUTPUT_REPLY_VERSION
    versions["steps"] = STEPS_VERSION
    return {**versions, **plugin_contracts(plugins)}
