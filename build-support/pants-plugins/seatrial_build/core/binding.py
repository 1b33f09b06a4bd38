"""What binding.yaml says: which Python modules stand behind the words that cases use.

The build learns from this file what a case depends on, without knowing the agent. It is read
tolerantly: what is wrong in it is left out here and reported by the case's own run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial_build.core import document
from seatrial_build.core.document import Node, entries_of, text_of, words_of


@dataclass(frozen=True)
class Binding:
    """What the build needs of a binding.

    ``module`` is the Python module of the binding itself, ``root`` the folder that files named by cases
    are relative to, ``default_plugins`` the composition of a case that names none, ``plugins`` the
    modules of each plugin (the plugin itself, and what the binding has for it alone), ``plugin_gates``
    the addresses of each plugin's own gates.
    """

    module: str = ""
    root: str = ""
    default_plugins: tuple[str, ...] = ()
    plugins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    plugin_gates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def plugins_of(self, named: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the plugins of a case that names `named` (None: the case names no composition)."""
        return self.default_plugins if named is None else named

    def modules_of(self, named: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the Python modules of that composition. Unknown names are left out."""
        return tuple(module for name in self.plugins_of(named) for module in self.plugins.get(name, ()))

    def gates_of(self, named: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the addresses of the gates that this composition adds to a case's own."""
        return tuple(gate for name in self.plugins_of(named) for gate in self.plugin_gates.get(name, ()))


def read_binding(top: Node | None) -> Binding:
    """Return the binding that a document holds; an empty one when it holds none."""
    if not isinstance(top, document.Mapping):
        return Binding()
    default = top.get("default")
    plugins = default.get("plugins") if isinstance(default, document.Mapping) else None
    return Binding(
        module=text_of(top.get("binding")).partition(":")[0],
        root=text_of(top.get("root")).strip("/"),
        default_plugins=tuple(word.text for word in words_of(plugins)),
        plugins={name: _texts(modules) for name, modules in entries_of(top.get("plugins"))},
        plugin_gates={name: _texts(gates) for name, gates in entries_of(top.get("plugin_gates"))},
    )


def _texts(node: Node) -> tuple[str, ...]:
    """Return the words of a list, or the one word that stands in place of a list."""
    found = (word.text for word in words_of(node)) if isinstance(node, document.Listing) else (text_of(node),)
    return tuple(text for text in found if text)
