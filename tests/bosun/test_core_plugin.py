"""The plugin core: reactions and messages to other channels, where there are any."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bosun.model.guardian import by_rule
from bosun.plugins import plugin_contracts
from bosun.plugins.core.emoji import COMMON, named
from bosun.plugins.core.plugin import REACTED, SENT, CorePlugin
from bosun.tools import ToolContext, ToolFailed

CONTEXT = ToolContext(conversation_id="c", account_id="a", actor_id="morgan", turn_id="turn:1", call_id="call:1")


@dataclass
class Reactions:
    """What was reacted with."""

    made: list[tuple[str, str, str]] = field(default_factory=list)
    sent: list[tuple[str, str]] = field(default_factory=list)

    async def react(self, conversation_id: str, turn_id: str, emoji: str) -> None:
        """Keep it."""
        self.made.append((conversation_id, turn_id, emoji))

    async def say(self, channel: str, text: str) -> None:
        """Keep it."""
        self.sent.append((channel, text))


def test_an_app_that_is_on_the_web_alone_offers_nothing() -> None:
    """A tool that can never work only costs."""
    assert CorePlugin(None).tools == ()
    assert plugin_contracts(["core"]) == {"tools.core": 1}


@pytest.mark.asyncio
async def test_the_emoji_is_a_name_however_it_is_written() -> None:
    """It goes to the turn that is asked."""
    reactions = Reactions()
    tool, _ = CorePlugin(reactions).tools
    assert (tool.name, tool.effect, tool.touches) == ("add_reaction", "write", "conversation")
    for written in ("tada", ":tada:", "🎉", " Tada "):
        assert await tool.run(CONTEXT, tool.parse(f'{{"emoji": "{written}"}}')) == REACTED
    assert reactions.made == [("c", "turn:1", "tada")] * 4


@pytest.mark.asyncio
async def test_what_is_no_name_is_told_to_the_model() -> None:
    """And nothing is asked of anybody."""
    reactions = Reactions()
    tool, _ = CorePlugin(reactions).tools
    for written in ("🦖", "two&words", "::"):
        with pytest.raises(ToolFailed, match="name of an emoji"):
            await tool.run(CONTEXT, tool.parse(f'{{"emoji": "{written}"}}'))
    assert reactions.made == []
    assert await CorePlugin(reactions).recall(None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("👍", "thumbsup"),
        ("❤️", "heart"),
        ("+1", "+1"),
        ("wave::skin-tone-3", "wave::skin-tone-3"),
        ("thumbs up", "thumbs_up"),
        ("", None),
        ("a/b", None),
    ],
)
def test_names(written: str, name: str | None) -> None:
    """Common emoji have theirs; a name stays what it is."""
    assert named(written) == name
    assert all(named(each) for each in COMMON.values())


@pytest.mark.asyncio
async def test_a_message_to_another_channel_is_for_the_guardian_to_allow() -> None:
    """It leaves the conversation: no rule allows it."""
    slack = Reactions()
    _, tool = CorePlugin(slack).tools
    assert (tool.name, tool.effect, tool.touches) == ("send_message", "external", "other")
    assert by_rule(tool.effect, tool.touches) is None
    assert await tool.run(CONTEXT, tool.parse('{"channel": " #sales ", "text": "Monday."}')) == SENT
    assert slack.sent == [("#sales", "Monday.")]
    for wrong in ('{"channel": "#sales", "text": ""}', '{"channel": "", "text": "x"}', '{"text": "x"}'):
        with pytest.raises(ToolFailed):
            tool.parse(wrong)
    with pytest.raises(ToolFailed, match="no text"):
        await tool.run(CONTEXT, tool.parse('{"channel": "#sales", "text": " "}'))
    assert len(slack.sent) == 1
