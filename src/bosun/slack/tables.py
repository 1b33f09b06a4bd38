"""Tables, which Slack does not have: aligned in fixed width where they are narrow, else a line for each row."""

from __future__ import annotations

import unicodedata
from typing import Final

from markdown_it.tree import SyntaxTreeNode

from bosun.slack.blocks import Block, coded
from bosun.slack.inline import bold, line_of, plain_of

# As wide as a message is on a small screen, about.
_WIDEST: Final = 80


def table_blocks(table: SyntaxTreeNode) -> list[Block]:
    """Render a table. Each row has the cells of its head: the parser sees to that."""
    rows = [row for part in table.children for row in part.children]
    cells = [[_cell(cell) for cell in row.children] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + 3 * (len(widths) - 1) > _WIDEST:
        return _records(rows)
    rule = "-+-".join("-" * width for width in widths)
    lines = [" | ".join(map(_padded, row, widths)).rstrip() for row in cells]
    return coded("\n".join([lines[0], rule, *lines[1:]]))


def _records(rows: list[SyntaxTreeNode]) -> list[Block]:
    """Say of each row what each column is."""
    names = [line_of(cell, within=("strong",)) for cell in rows[0].children]
    if len(rows) == 1:
        return [Block("• " + " · ".join(bold(name) for name in names if name))]
    return [Block(f"• {_record(names, row)}", tight=index > 0) for index, row in enumerate(rows[1:])]


def _record(names: list[str], row: SyntaxTreeNode) -> str:
    values = [line_of(cell) for cell in row.children]
    return " · ".join(
        f"{bold(name)}: {value}" if name else value for name, value in zip(names, values, strict=True) if value
    )


def _cell(cell: SyntaxTreeNode) -> str:
    """Return a cell's words; in fixed width there are no marks and no links, so that addresses are written out."""
    return " ".join("".join(_words(child) for child in cell.children).split())


def _words(node: SyntaxTreeNode) -> str:
    if node.type == "link":
        label, address = plain_of(node), str(node.attrs.get("href", ""))
        return label if not address or label == address else f"{label} ({address})"
    if node.type != "image" and node.children:
        return "".join(_words(child) for child in node.children)
    return plain_of(node)


def _width(text: str) -> int:
    """Count columns: a wide character takes two, and one that joins another takes none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
