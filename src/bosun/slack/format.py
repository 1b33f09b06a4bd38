"""Markdown, as a model writes it, in Slack's own notation (mrkdwn), which knows less.

Slack has no headings, no tables, no languages of code and no escape for its marks: what it does not have becomes
the nearest that it has, and no word gets lost.
"""

from __future__ import annotations

from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bosun.slack.blocks import Block, coded, joined, quoted, under
from bosun.slack.escaping import escape
from bosun.slack.inline import BACKTICK, bold, line_of, plain_of
from bosun.slack.parts import LONGEST_PART, split_message
from bosun.slack.tables import table_blocks

__all__ = ["LONGEST_PART", "split_message", "to_mrkdwn"]

# Deeper than anybody writes: the parser leaves out what lies below its limit.
_DEEPEST: Final = 60
# The parser's time grows with the square of these; no reply has as many.
_MOST_BRACKETS: Final = 2_000
_RULE: Final = "─" * 10
_BULLETS: Final = ("•", "◦", "▪")


def to_mrkdwn(markdown: str) -> str:
    """Return Markdown (CommonMark, tables, strikethrough) as mrkdwn. What is not blank does not become blank."""
    if markdown.count("[") > _MOST_BRACKETS:
        return _as_it_is(markdown)
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    tokens = parser.parse(markdown)
    if any(each.level >= _DEEPEST - 1 for token in tokens for each in (token, *(token.children or ()))):
        return _as_it_is(markdown)
    return joined(_blocks(SyntaxTreeNode(tokens).children, depth=0)) or _as_it_is(markdown)


def _as_it_is(markdown: str) -> str:
    return escape(markdown.replace("`", BACKTICK)).strip()


def _blocks(nodes: list[SyntaxTreeNode], depth: int) -> list[Block]:
    return [block for node in nodes for block in _block(node, depth)]


def _block(node: SyntaxTreeNode, depth: int) -> list[Block]:
    """Render one block. `depth` counts the lists and quotes around it."""
    match node.type:
        case "fence" | "code_block":
            return coded(node.content)
        case "heading":
            return [Block(bold(line_of(node, within=("strong",))))]
        case "hr":
            return [Block(_RULE)]
        case "bullet_list" | "ordered_list":
            return _list(node, depth)
        case "blockquote":
            return quoted(_blocks(node.children, depth + 1), outermost=depth == 0)
        case "table":
            return table_blocks(node)
        case "paragraph":
            return [Block(line_of(node))]
        case _:
            return [Block(escape(plain_of(node)))]


def _list(node: SyntaxTreeNode, depth: int) -> list[Block]:
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
    level = _level(node)
    blocks: list[Block] = []
    for count, item in enumerate(node.children):
        mark = f"{first + count}." if node.type == "ordered_list" else _BULLETS[level % len(_BULLETS)]
        inner = _blocks(item.children, depth + 1)
        tight = all(child.hidden for child in item.children if child.type == "paragraph")
        blocks += under(mark, inner, tight=tight, first=count == 0)
    return blocks


def _level(node: SyntaxTreeNode) -> int:
    """Count the lists around a list."""
    above, level = node.parent, 0
    while above is not None:
        level += above.type in ("bullet_list", "ordered_list")
        above = above.parent
    return level
