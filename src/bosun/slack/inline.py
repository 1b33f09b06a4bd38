"""Words with marks: emphasis, code and links within a line.

Slack takes a mark for one only between a word and a gap, within one line, and once: a mark that it would show as a
letter is left out.
"""

from __future__ import annotations

from typing import Final

from markdown_it.tree import SyntaxTreeNode

from bosun.slack.escaping import escape

BACKTICK: Final = "\u02cb"
"""Looks like a backtick. Slack has no escape for a real one, and it would begin code where none is meant."""

_MARKS: Final = {"strong": "*", "em": "_", "s": "~"}
_SCHEMES: Final = ("http://", "https://", "mailto:", "tel:")
# Beyond these a link could not be kept whole in one message.
_LONGEST_ADDRESS: Final = 1_500
_LONGEST_LABEL: Final = 200


def line_of(node: SyntaxTreeNode, within: tuple[str, ...] = ()) -> str:
    """Render what stands in a block (a paragraph, a heading, a cell); `within` are the marks already around it."""
    return "".join(_marked(child, within) for child in node.children).strip()


def plain_of(node: SyntaxTreeNode) -> str:
    """Return the words alone, not escaped, without backticks."""
    if node.type in ("softbreak", "hardbreak"):
        return "\n"
    if node.children:
        return "".join(plain_of(child) for child in node.children)
    return _text(node.content)


def bold(text: str) -> str:
    """Mark each line as bold."""
    return _around(text, "*", before="", after="")


def _marked(node: SyntaxTreeNode, within: tuple[str, ...]) -> str:
    match node.type:
        case "inline":
            return _children(node, within)
        case "strong" | "em" | "s":
            return _children(node, (*within, node.type))
        case "code_inline":
            return _code(node.content)
        case "link" | "image":
            return _link(node)
        case "softbreak" | "hardbreak":
            return "\n"
        case _:
            return escape(plain_of(node))


def _children(node: SyntaxTreeNode, within: tuple[str, ...]) -> str:
    pairs = [(child, text) for child in node.children if (text := _marked(child, within))]
    texts = ["", *(text for _, text in pairs), ""]
    for index, (child, text) in enumerate(pairs, start=1):
        mark = _MARKS.get(child.type)
        if mark is not None and child.type not in within:
            texts[index] = _around(text, mark, before=texts[index - 1][-1:], after=texts[index + 1][:1])
    return "".join(texts)


def _around(text: str, mark: str, *, before: str, after: str) -> str:
    """Put marks around each line of a text, unless Slack would not take them for marks."""
    if before.isalnum() or after.isalnum() or mark in (before, after):
        return text
    return "\n".join(_line(line, mark) for line in text.split("\n"))


def _line(line: str, mark: str) -> str:
    inner = line.strip()
    if not inner or inner.startswith(mark) or inner.endswith(mark):
        return line
    at = line.index(inner)
    return f"{line[:at]}{mark}{inner}{mark}{line[at + len(inner) :]}"


def _code(content: str) -> str:
    code = escape(_text(content).replace("\n", " "))
    return f"`{code}`" if code.strip() else code


def _link(node: SyntaxTreeNode) -> str:
    address = str(node.attrs.get("src" if node.type == "image" else "href", ""))
    label = " ".join(plain_of(node).split())
    if not address.startswith(_SCHEMES) or len(address) > _LONGEST_ADDRESS or len(label) > _LONGEST_LABEL:
        said = label if not address or label == address else f"{label} ({address})".strip()
        return escape(_text(said))
    # The parser has percent-encoded what could end the link too early.
    target = escape(address)
    if not label or label in (address, address.removeprefix("mailto:")):
        return f"<{target}>"
    return f"<{target}|{escape(label)}>"


def _text(content: str) -> str:
    return content.replace("`", BACKTICK)
