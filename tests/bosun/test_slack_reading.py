"""A Slack message as a model reads it, and a thread's name as a conversation's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_bodies import BOT, OTHER, PERSON

from bosun.slack.channel import SlackThread
from bosun.slack.reading import SlackFile, mentions, readable

NAMES = {PERSON: "Morgan", OTHER: "Eve\n Adams"}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Hello", "Hello"),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;b&amp;gt; &quot;", "&lt;b&gt; &quot;"),
        (f"<@{BOT}> hello", "hello"),
        (f"  <@{BOT}>, hello", "hello"),
        (f"<@{BOT}>: hello <@{BOT}>", "hello @Bosun"),
        (f"<@{BOT}>", "@Bosun"),
        (f"<@{PERSON}> and <@{OTHER}>", "@Morgan and @Eve Adams"),
        ("<@U0NOBODY> <@U0NOBODY|sam>", "@U0NOBODY @sam"),
        ("<#C1|general> <#C1>", "#general #C1"),
        ("<!here> <!channel|channel> <!subteam^S1|@ops> <!subteam^S1>", "@here @channel @ops @S1"),
        ("<!date^1392734382^{date}|18 February>", "18 February"),
        ("<https://x.example/a?b=1&amp;c=2|the page>", "the page (https://x.example/a?b=1&c=2)"),
        ("<https://x.example>", "https://x.example"),
        ("<http://x.example|x.example>", "x.example"),
        ("<mailto:a@x.example|a@x.example> <mailto:a@x.example|me>", "a@x.example me (a@x.example)"),
        ("&lt;@U0MORGAN&gt; &lt;!here&gt;", "<@U0MORGAN> <!here>"),
        ("a <b", "a <b"),
        ("<>", ""),
        ("*bold* `code` :wave:", "*bold* `code` :wave:"),
    ],
)
def test_what_a_model_reads(text: str, read: str) -> None:
    """Worked out by hand."""
    assert readable(text, NAMES, bot_user_id=BOT) == read


def test_each_file_is_a_line() -> None:
    """With what is known of it."""
    files = [
        SlackFile("F1", "plan.pdf", "application/pdf", 12_000),
        SlackFile("F2", "x"),
        SlackFile("F3", "y", "", 900),
    ]
    lines = "[file: plan.pdf, application/pdf, 12 kB]\n[file: x]\n[file: y, 900 B]"
    assert readable("See", {}, files=files) == f"See\n{lines}"
    assert readable("", {}, files=files) == lines
    assert SlackFile("F", "z", "video/mp4", 3_400_000).line == "[file: z, video/mp4, 3.4 MB]"


def test_whose_names_are_needed() -> None:
    """Each once."""
    assert mentions(f"<@{PERSON}> <@{OTHER}|eve> <@{PERSON}> &lt;@U1&gt;") == (PERSON, OTHER)


@given(st.text(st.characters() | st.sampled_from("<>&|@#!^"), max_size=60), st.text(max_size=10))
def test_any_text_can_be_read(text: str, name: str) -> None:
    """And what a person typed letter by letter comes back as typed."""
    readable(text, {PERSON: name}, bot_user_id=BOT)
    typed = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert readable(typed, {}) == text.strip()


@given(st.from_regex(r"[CDG][A-Z0-9]{1,12}", fullmatch=True), st.from_regex(r"[0-9]{1,12}\.[0-9]{1,6}", fullmatch=True))
def test_a_thread_and_its_conversation_are_one(channel: str, ts: str) -> None:
    """Both ways."""
    thread = SlackThread(channel, ts)
    assert thread.conversation_id == f"slack:{channel}:{ts}"
    assert SlackThread.of(thread.conversation_id) == thread
    assert thread.is_direct == channel.startswith("D")


@given(st.text(max_size=30) | st.text(max_size=20).map(lambda text: f"slack:C1:{text}"))
def test_no_other_conversation_is_a_thread(conversation_id: str) -> None:
    """Only the exact name is."""
    found = SlackThread.of(conversation_id)
    assert found is None or found.conversation_id == conversation_id


@pytest.mark.parametrize(
    ("channel", "ts"), [("", "1.2"), ("c1", "1.2"), ("C1:", "1.2"), ("C1", "1"), ("C1", "1.2\n"), ("C1", "１.2")]
)
def test_a_name_that_slack_does_not_write_is_no_thread(channel: str, ts: str) -> None:
    """It could stand for two conversations."""
    with pytest.raises(ValueError, match="as Slack writes it"):
        SlackThread(channel, ts)
    assert SlackThread.of(f"slack:{channel}:{ts}") is None
