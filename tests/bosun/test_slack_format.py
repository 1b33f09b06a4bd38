"""Markdown in Slack's notation, and long messages in parts: nothing is lost, broken, or means more than it did."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosun.slack.escaping import escape, unescape
from bosun.slack.format import LONGEST_PART, split_message, to_mrkdwn

FENCE = "```"
LINK = re.compile(r"<(?:https?://|mailto:|tel:)[^<>|\s]+(?:\|[^<>\n]+)?>")
QUOTE = re.compile(r"^>(?= |$)", re.MULTILINE)
HALF_ENTITY = re.compile(r"&(?!(?:amp|lt|gt);)")


def check_sound(mrkdwn: str) -> None:
    """Fail for a control character that is none of ours, and for code that is not closed."""
    bare = QUOTE.sub("", LINK.sub("", mrkdwn))
    assert "<" not in bare and ">" not in bare, mrkdwn
    assert not HALF_ENTITY.search(mrkdwn), mrkdwn
    lines = mrkdwn.split("\n")
    assert mrkdwn.count(FENCE) == lines.count(FENCE), "a fence stands alone in its line"
    assert mrkdwn.count(FENCE) % 2 == 0, "each fence has its other"


def code_of(mrkdwn: str) -> list[str]:
    """Return what stands between the fences."""
    return [unescape(part.removeprefix("\n").removesuffix("\n")) for part in mrkdwn.split(FENCE)[1::2]]


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("Hello", "Hello"),
        ("**bold** *it* _it_ ~~no~~ `code`", "*bold* _it_ _it_ ~no~ `code`"),
        ("***both*** **a *b* c** *a **b***", "_*both*_ *a _b_ c* _a *b*_"),
        ("**a **b** c** __x__", "*a b c* *x*"),
        ("un**frigging**believable 2 * 3 * 4 snake_case_name", "unfriggingbelievable 2 * 3 * 4 snake_case_name"),
        ("**two\nlines** here", "*two*\n*lines* here"),
        ("**`code`** and *[x](https://x.example)*", "*`code`* and _<https://x.example|x>_"),
        ("a < b && c > d &amp; &lt;", "a &lt; b &amp;&amp; c &gt; d &amp; &lt;"),
        ("`a < b && c`", "`a &lt; b &amp;&amp; c`"),
        ("<!here> <@U123> <#C1|x>", "&lt;!here&gt; &lt;@U123&gt; &lt;#C1|x&gt;"),
        ("<b>bold</b><br>", "&lt;b&gt;bold&lt;/b&gt;&lt;br&gt;"),
        ("# One\n## Two **b** `c`\nText", "*One*\n\n*Two b `c`*\n\nText"),
        ("Title\n=====", "*Title*"),
        ('[page](https://x.example/a?b=1&c=2 "t")', "<https://x.example/a?b=1&amp;c=2|page>"),
        ("[a **b** <c>](https://x.example)", "<https://x.example|a b &lt;c&gt;>"),
        ("<https://x.example> <a@x.example>", "<https://x.example> <mailto:a@x.example>"),
        ("[https://x.example](https://x.example)", "<https://x.example>"),
        ("https://x.example/?a=1&b=2", "https://x.example/?a=1&amp;b=2"),
        ("[x](/path) [y](javascript:alert) [z](#here)", "x (/path) [y](javascript:alert) z (#here)"),
        (
            "![diagram](https://x.example/d.png) ![](https://x.example/e.png)",
            "<https://x.example/d.png|diagram> <https://x.example/e.png>",
        ),
        ("[x](<https://x.example/a|b c>)", "<https://x.example/a%7Cb%20c|x>"),
        ("- a\n- **b**\n  - c\n    - d\n- e", "• a\n• *b*\n    ◦ c\n        ▪ d\n• e"),
        ("* a\n\n* b", "• a\n\n• b"),
        ("3. a\n4. b\n   1. c", "3. a\n4. b\n    1. c"),
        ("- [ ] open\n- [x] done", "• [ ] open\n• [x] done"),
        ("- a\n\n  more", "• a\n\n    more"),
        ("- a\n  ```\n  x\n  ```", "• a\n```\nx\n```"),
        ("> a\n> b\n>\n> c", "> a\n> b\n>\n> c"),
        ("> a\n>> b", "> a\n>\n> &gt; b"),
        ("- > a", "• &gt; a"),
        ("> - a\n> - b", "> • a\n> • b"),
        ("> ```\n> x\n> ```", "```\nx\n```"),
        ("```python\nx = 1 < 2\n```", "```\nx = 1 &lt; 2\n```"),
        ("```\n\n  a\n\n```", "```\n\n  a\n```"),
        ("~~~\na\n~~~\n\n    b", "```\na\n```\n\n```\nb\n```"),
        ("```\nopen **x**", "```\nopen **x**\n```"),
        ("a\n\n```\n```\n\nb", "a\n\nb"),
        ("````md\n```sh\nls\n```\n````", "```\nˋˋˋsh\nls\nˋˋˋ\n```"),
        ("`` a`b `` \\`c\\` `d", "`aˋb` ˋcˋ ˋd"),
        ("a\n\n---\n\nb", "a\n\n──────────\n\nb"),
        ("| a | bb |\n|---|:-:|\n| 1 | **2** |\n| 日本 | `x` |", "```\na    | bb\n-----+---\n1    | 2\n日本 | x\n```"),
        ("| a |\n|---|\n| [x](https://x.example) |", "```\na\n---------------------\nx (https://x.example)\n```"),
        ("line  \nbreak\\\nagain", "line\nbreak\nagain"),
        ("\\*not bold\\*", "*not bold*"),
        ("", ""),
        ("[x]: https://x.example", "[x]: https://x.example"),
    ],
)
def test_markdown_by_hand(markdown: str, mrkdwn: str) -> None:
    """Each feature that models use."""
    assert to_mrkdwn(markdown) == mrkdwn
    check_sound(mrkdwn)


def test_a_wide_table_is_a_line_for_each_row() -> None:
    """In fixed width it would be torn."""
    long = "word " * 20
    table = f"| Name | Text | |\n|---|---|---|\n| **a** | {long}| x |\n| b | | |"
    assert to_mrkdwn(table) == f"• *Name*: *a* · *Text*: {long.strip()} · x\n• *Name*: b"
    assert to_mrkdwn(f"| {long} |\n|---|").startswith("• *word word")


def test_what_is_nested_too_deeply_is_kept_as_it_is() -> None:
    """The parser would leave it out."""
    for deep in (
        ">" * 500 + " x **y**",
        "".join(f"{'  ' * level}- a{level}\n" for level in range(100)),
        "[" * 500 + "x",
    ):
        assert to_mrkdwn(deep).replace("&gt;", "").strip()
        assert to_mrkdwn("```\n" + deep + "\n```")
    assert "a99" in to_mrkdwn("".join(f"{'  ' * level}- a{level}\n" for level in range(100)))
    assert to_mrkdwn("[" * 5_000 + "**x**") == "[" * 5_000 + "**x**"
    assert "x" in to_mrkdwn("![" * 500 + "x" + "](https://x.example)" * 500)
    assert "x" in to_mrkdwn("*" * 3_000 + "x" + "*" * 3_000)


def test_a_link_too_long_for_a_part_is_written_out() -> None:
    """A part could not hold it whole."""
    address = "https://x.example/" + "a" * 5_000
    assert to_mrkdwn(f"[page]({address})") == f"page ({address})"
    assert to_mrkdwn(f"[{'label ' * 100}](https://x.example)").endswith("label (https://x.example)")


# --- escapes


@given(st.text(st.characters() | st.sampled_from("&<>;amplt"), max_size=80))
def test_what_is_escaped_comes_back(text: str) -> None:
    """Also text that looks escaped: Slack shows it as it was."""
    escaped = escape(text)
    assert unescape(escaped) == text
    assert "<" not in escaped and ">" not in escaped and not HALF_ENTITY.search(escaped)
    assert escape(unescape(escaped)) == escaped


@given(st.text(st.characters(exclude_characters="&<>"), max_size=80))
def test_what_needs_no_escape_stays(text: str) -> None:
    """Again and again."""
    assert escape(text) == text == unescape(text)


# --- anything

MARKS = ("*", "**", "_", "__", "~~", "`", "``", "```", "~~~", "```py\n", "[", "](", ")", "![", "<", ">", "\\")
LINKS = ("https://x.example/a_b", "<https://x.example>", "[x](https://x.example)", "[x]: /y\n", "<!here>", "<@U1>")
LINES = (
    "\n",
    "\n\n",
    "  \n",
    "\n- ",
    "\n  - ",
    "\n1. ",
    "\n> ",
    "\n# ",
    "\n---\n",
    "| a | b |\n|---|---|\n| ",
    " | ",
    "|",
)
SIGNS = (
    "&",
    "&amp;",
    "&lt;b&gt;",
    "&#42;",
    "&nbsp;",
    "    ",
    "\t",
    " ",
    "word",
    "é",
    "日本",
    "👍🏽",
    "\u200b",
    "\0",
    "\r\n",
)
PIECES = (*MARKS, *LINKS, *LINES, *SIGNS, "\x1b", "\ud83d")
MARKDOWN = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join)


@settings(max_examples=500, deadline=None)
@given(MARKDOWN)
def test_any_markdown_becomes_sound(markdown: str) -> None:
    """No crash, no control character that acts, no open code, and no silence."""
    mrkdwn = to_mrkdwn(markdown)
    check_sound(mrkdwn)
    assert bool(mrkdwn.strip()) or not markdown.strip()


WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=8)
INLINE = st.recursive(
    WORD,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        .map(" ".join)
        .flatmap(
            lambda text: st.sampled_from(
                [
                    f"**{text}**",
                    f"*{text}*",
                    # Three tildes at the beginning of a line would be a fence.
                    text if text.startswith("~") else f"~~{text}~~",
                    f"[{text}](https://x.example/?a=1&b=2)",
                    f"{text}\n{text}",
                    f"{text} & <{text}>",
                ]
            )
        )
    ),
    max_leaves=6,
)
CODE = (
    st.lists(st.text("ab <>&*_`|\t", max_size=12), min_size=1, max_size=6)
    .map("\n".join)
    .filter(lambda code: FENCE not in code and bool(code.strip()))
)


def under(prefix: str, rest: str, block: str) -> str:
    """Put a block into a list's item or a quote."""
    first, *others = block.split("\n")
    return "\n".join([prefix + first, *(rest + line for line in others)])


BLOCK = st.recursive(
    INLINE | INLINE.map(lambda text: "# " + text.replace("\n", " ")) | CODE.map(lambda code: f"```python\n{code}\n```"),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: "\n".join(under("- ", "  ", item) for item in items)),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda items: "\n".join(under("1. ", "   ", item) for item in items)
        ),
        inner.map(lambda block: under("> ", "> ", block)),
    ),
    max_leaves=5,
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=4).map("\n\n".join)


@settings(max_examples=250, deadline=None)
@given(DOCUMENT)
def test_no_word_is_lost(markdown: str) -> None:
    """Whatever it is nested in."""
    mrkdwn = to_mrkdwn(markdown)
    check_sound(mrkdwn)
    outside = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    for word in re.findall(r"[a-z]{3,}", outside):
        assert word in mrkdwn or word in ("https", "example", "amp")


@given(st.lists(CODE, min_size=1, max_size=3), st.sampled_from(["", "python", "c++ title=x", "diff"]))
def test_code_stays_as_it_is(codes: list[str], language: str) -> None:
    """But for the language, which Slack would show as code, and blank ends."""
    markdown = "\n\nthen\n\n".join(f"```{language}\n{code}\n```" for code in codes)
    assert code_of(to_mrkdwn(markdown)) == [code.rstrip() for code in codes]


# --- parts


def content(mrkdwn: str) -> str:
    """Return what a text says, without the gaps and fences between which it is cut."""
    return re.sub(r"\s", "", mrkdwn.replace(FENCE, ""))


@settings(max_examples=250, deadline=None)
@given(DOCUMENT | MARKDOWN, st.integers(40, 200))
def test_the_parts_are_sound_and_together_the_whole(markdown: str, limit: int) -> None:
    """Each for itself; a link longer than a part cannot be kept whole."""
    mrkdwn = to_mrkdwn(markdown)
    parts = split_message(mrkdwn, limit)
    assert "".join(map(content, parts)) == content(mrkdwn)
    assert bool(parts) == bool(mrkdwn.strip())
    for part in parts:
        assert part.strip() and len(part) <= limit
        assert part.count(FENCE) % 2 == 0 and all(code.strip() for code in code_of(part))
        assert not HALF_ENTITY.search(part)
        if all(len(link) <= limit - 8 for link in LINK.findall(mrkdwn)):
            check_sound(part)
    if len(mrkdwn) <= limit:
        assert parts in ((mrkdwn,), ())


@given(st.text(st.characters() | st.sampled_from("`<>&\n "), max_size=400), st.integers(40, 90))
def test_any_text_can_be_cut(text: str, limit: int) -> None:
    """Also one that is no mrkdwn."""
    parts = split_message(text, limit)
    assert "".join(map(content, parts)).replace("`", "") == content(text).replace("`", "")
    assert all(part.strip() and len(part) <= limit for part in parts)


@given(
    st.lists(st.text("abc &<", max_size=30), min_size=1, max_size=40).filter(lambda lines: bool("".join(lines).strip()))
)
def test_long_code_goes_on_in_the_next_part(lines: list[str]) -> None:
    """Line for line, each part with fences of its own."""
    code = "\n".join(lines).rstrip()
    mrkdwn = to_mrkdwn(f"```sh\n{code}\n```")
    parts = split_message(mrkdwn, 200)
    assert all(part.startswith(f"{FENCE}\n") and part.endswith(f"\n{FENCE}") for part in parts)
    assert "\n".join(code for part in parts for code in code_of(part)) == code


def test_it_is_cut_where_a_reader_would_pause() -> None:
    """Between paragraphs, else lines, else words."""
    paragraph, line = "word " * 9 + "end.", "x" * 45
    assert split_message(f"{paragraph}\n\n{paragraph}", 60) == (paragraph, paragraph)
    assert split_message(f"{line}\n{line}\n{line}", 100) == (f"{line}\n{line}", line)
    assert split_message("word " * 30, 40)[0] == "word word word word word word word"
    assert split_message("x" * 100, 40) == ("x" * 36, "x" * 36, "x" * 28)


def test_an_entity_and_a_link_are_kept_whole() -> None:
    """Half of one would be letters."""
    assert all(len(part) % 4 == 0 for part in split_message("&lt;" * 100, 50))
    link = "<https://x.example/a|page>"
    assert split_message(link * 4, 60) == (link * 2, link * 2)


def test_code_that_fits_is_not_cut() -> None:
    """It begins in the next part."""
    code = f"{FENCE}\n" + "x = 1\n" * 8 + FENCE
    text = "word " * 10
    assert split_message(f"{text}\n\n{code}", 100) == (text, code)


def test_wherever_code_ends_no_part_has_an_empty_block() -> None:
    """Neither behind its opening nor before its end."""
    for before in range(60):
        for length in (1, 30, 60):
            text = f"{'y' * before}\n\n{FENCE}\n\n\n{'x' * length}\n{FENCE}\n\nend"
            parts = split_message(text, 40)
            assert all(code.strip() for part in parts for code in code_of(part)), parts
            assert "".join(map(content, parts)) == content(text)


def test_a_message_of_the_usual_length_is_one_part() -> None:
    """And a long one as few as it can be."""
    text = ("A sentence of some words. " * 100).strip()
    assert split_message(text) == (text,)
    parts = split_message("\n\n".join([text] * 10))
    assert len(parts) == 10 and all(len(part) <= LONGEST_PART for part in parts)


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\n" * 10_000])
def test_a_blank_message_has_no_parts(blank: str) -> None:
    """Slack refuses to post one."""
    assert split_message(blank) == ()


def test_a_limit_too_small_for_code() -> None:
    """It is an error, not an endless loop."""
    with pytest.raises(ValueError, match="at least 40"):
        split_message("x", 10)
