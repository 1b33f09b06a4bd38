"""Read YAML into a document with lines. It never raises: what cannot be read is reported by the case's run."""

from __future__ import annotations

import yaml

from seatrial_build.core.document import Listing, Mapping, Node, Word

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MAX_DEPTH = 50
"""Deeper nesting, or a document that holds itself by an anchor, is no case that anybody wrote."""


def read_yaml(content: bytes) -> Node | None:
    """Return the document with these bytes, None when they are not YAML."""
    try:
        top = yaml.compose(content.decode("utf-8-sig"), Loader=_Loader)
        return None if top is None else _node(top, _MAX_DEPTH)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _node(node: yaml.Node, depth: int) -> Node:
    if depth == 0:
        raise RecursionError
    if isinstance(node, yaml.MappingNode):
        return Mapping(
            tuple(
                (Word(key.value, key.start_mark.line + 1), _node(value, depth - 1))
                for key, value in node.value
                if isinstance(key, yaml.ScalarNode)
            )
        )
    if isinstance(node, yaml.SequenceNode):
        return Listing(tuple(_node(item, depth - 1) for item in node.value))
    return Word(node.value, node.start_mark.line + 1)
