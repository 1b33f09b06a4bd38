"""The core plugin of one app: its tools, and every word about them that a model reads."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from bosun.plugins import MessageActions
from bosun.plugins.core import NAME
from bosun.plugins.core.emoji import LONGEST_NAME, named
from bosun.recall import FactBlock, RecallQuery
from bosun.tools import AnyTool, Example, Tool, ToolContext, ToolFailed

REACTED: Final = "Reacted."
SENT: Final = "Sent."
LONGEST_MESSAGE: Final = 4000


class AddReaction(BaseModel):
    """What to react with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    emoji: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="Its name, such as thumbsup.")]


class SendMessage(BaseModel):
    """What to say elsewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel: Annotated[str, Field(min_length=1, max_length=80, description="Its name, such as #general.")]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_MESSAGE, description="What to say there.")]


class CorePlugin:
    """What the app composes."""

    def __init__(self, actions: MessageActions | None) -> None:
        self._tools = () if actions is None else (_add_reaction(actions), _send_message(actions))

    @property
    def name(self) -> str:
        """The name by which it is composed."""
        return NAME

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """To react and to write elsewhere, where people write in channels."""
        return self._tools

    async def recall(self, query: RecallQuery) -> FactBlock | None:
        """Know nothing."""
        return None


def _add_reaction(actions: MessageActions) -> AnyTool:
    async def add_reaction(context: ToolContext, arguments: AddReaction) -> str:
        name = named(arguments.emoji)
        if name is None:
            raise ToolFailed(f"{arguments.emoji!r} is no name of an emoji: use one such as thumbsup")
        await actions.react(context.conversation_id, context.turn_id, name)
        return REACTED

    return Tool(
        name="add_reaction",
        description="React to the person's message with an emoji.",
        arguments=AddReaction,
        effect="write",
        touches="conversation",
        example=Example(
            request="React with a thumbs up.",
            arguments={"emoji": "thumbsup"},
            result=REACTED,
            reply="Done.",
        ),
        run=add_reaction,
    )


def _send_message(actions: MessageActions) -> AnyTool:
    async def send_message(context: ToolContext, arguments: SendMessage) -> str:
        if not arguments.text.strip():
            raise ToolFailed("the message has no text")
        await actions.say(arguments.channel.strip(), arguments.text)
        return SENT

    return Tool(
        name="send_message",
        description="Send a message to another channel.",
        arguments=SendMessage,
        effect="external",
        touches="other",
        example=Example(
            request="Tell #sales that the demo is on Monday.",
            arguments={"channel": "#sales", "text": "The demo is on Monday."},
            result=SENT,
            reply="I told #sales.",
        ),
        run=send_message,
    )
