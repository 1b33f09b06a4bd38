"""Paragraphs, code, lists and quotes as lines of mrkdwn.

Code is never indented nor quoted: in Slack the indentation would be a part of it, and a quote of code is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from bosun.slack.escaping import escape
from bosun.slack.inline import BACKTICK
from bosun.slack.parts import FENCE

_INDENT: Final = "    "


@dataclass(frozen=True)
class Block:
    """Some lines. A tight one follows the block before it without a blank line."""

    text: str
    code: bool = False
    tight: bool = False


def joined(blocks: list[Block]) -> str:
    """Return the blocks as one text."""
    text = ""
    for block in blocks:
        if block.text.strip():
            text += ("\n" if block.tight else "\n\n") * bool(text) + block.text
    return text


def coded(content: str) -> list[Block]:
    """Return code as a block; blank code is none, because Slack would show the fences."""
    code = escape(content.rstrip().replace(FENCE, BACKTICK * len(FENCE)))
    # A single backtick at the end would grow with the fence behind it, were there no line between.
    return [Block(f"{FENCE}\n{code}\n{FENCE}", code=True)] if code.strip() else []


def under(mark: str, blocks: list[Block], *, tight: bool, first: bool) -> list[Block]:
    """Return the blocks of a list's item: the first line behind the mark, the others indented."""
    if not blocks or blocks[0].code or not blocks[0].text.strip():
        blocks = [Block(""), *blocks]
    inner = [
        block if block.code else replace(block, text=_indented(block.text, "" if index == 0 else _INDENT))
        for index, block in enumerate(blocks)
    ]
    inner = [replace(block, tight=tight or block.tight) for block in inner]
    head = replace(inner[0], text=f"{mark} {inner[0].text}".rstrip(), tight=tight and not first)
    return [head, *inner[1:]]


def quoted(blocks: list[Block], *, outermost: bool) -> list[Block]:
    """Return the blocks behind `>`. Within a list or a quote Slack quotes nothing: it is a letter there."""
    mark = ">" if outermost else escape(">")
    behind: list[Block] = []
    for block in blocks:
        if block.code or not block.text.strip():
            behind.append(block)
            continue
        text = "\n".join(f"{mark} {line}".rstrip() for line in block.text.split("\n"))
        goes_on = bool(behind) and not behind[-1].code
        if goes_on and not block.tight:
            text = f"{mark}\n{text}"
        behind.append(replace(block, text=text, tight=goes_on))
    return behind


def _indented(text: str, first: str) -> str:
    head, *rest = text.split("\n")
    return "\n".join([first + head, *(_INDENT + line if line else line for line in rest)])
