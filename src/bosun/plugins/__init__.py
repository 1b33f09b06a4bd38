"""Plugins: packages of this folder, composed by name.

A name is checked here, before anything of a plugin is imported.
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Iterable


class PluginUnknown(ValueError):
    """An app was composed with a plugin that does not exist."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"the plugins are: {', '.join(known) or 'none yet'}"
        super().__init__(f"there is no plugin {name!r}; {hint}")


def known_plugins() -> tuple[str, ...]:
    """Return the names that may be composed, in order, without importing any of them."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def require_known(names: Iterable[str]) -> None:
    """Raise `PluginUnknown` for the first name that is no plugin."""
    known = known_plugins()
    for name in names:
        if name not in known:
            raise PluginUnknown(name, known)
