"""The public contracts of an app and their versions: what cases, fixtures and recordings are written for.

A version changes when a meaning changes, each contract's apart from the others'.
"""

from __future__ import annotations

from typing import Final

from bosun.context.blocks import BLOCK_VERSIONS
from bosun.context.policy import GUARDIAN_VERSION, REPLY_POLICY_VERSION, ROUTER_VERSION
from bosun.plugins import plugin_contracts
from bosun.steps import STEPS_VERSION

OUTPUT_REPLY_VERSION: Final = 1
"""Of the reply: plain text, or the sentinel that means no reply, alone."""


def contract_versions(plugins: tuple[str, ...] = (), *, slack: bool = False) -> dict[str, int]:
    """Return every contract of an app composed with these plugins, and with Slack or not. Raises `PluginUnknown`."""
    versions = {f"context.{name}": version for name, version in BLOCK_VERSIONS.items()}
    versions["output.reply"] = OUTPUT_REPLY_VERSION
    versions["steps"] = STEPS_VERSION
    versions["decision.router"] = ROUTER_VERSION
    versions["decision.guardian"] = GUARDIAN_VERSION
    if slack:
        versions["decision.reply_policy"] = REPLY_POLICY_VERSION
    return {**versions, **plugin_contracts(plugins)}
