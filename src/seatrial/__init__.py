"""Seatrial runs the agent you ship, whole, against recorded answers of a real model.

These are the names that a test of an agent uses. Everything else in this package is how they work.
"""

from seatrial.conversation import Compaction, Conversation, Decision, Reply, Said, ToolCall, Turn
from seatrial.fixture import AgentUnderTest, Crash, MakeAgent, Run
from seatrial.history import HistoryReply, HistoryTool, RecordedConversation, recorded_conversation, reply, tool_call
from seatrial.inputs import (
    Input,
    SlackBotMessage,
    SlackDeletion,
    SlackDirectMessage,
    SlackEdit,
    SlackFile,
    SlackMention,
    SlackThreadMessage,
    WebMessage,
    WebStop,
    slack_bot_message,
    slack_deletion,
    slack_direct_message,
    slack_edit,
    slack_file,
    slack_mention,
    slack_thread_message,
    web_message,
    web_stop,
)
from seatrial.kill import Kill, LogRow
from seatrial.progress import Actions, ModelRequest, Paused, Progress, ReplyDelivered, ToolRequest
from seatrial.slack import SlackCall
from seatrial.steps import StepSeen

__all__ = [
    "Actions",
    "AgentUnderTest",
    "Compaction",
    "Conversation",
    "Crash",
    "Decision",
    "HistoryReply",
    "HistoryTool",
    "Input",
    "Kill",
    "LogRow",
    "MakeAgent",
    "ModelRequest",
    "Paused",
    "Progress",
    "RecordedConversation",
    "Reply",
    "ReplyDelivered",
    "Run",
    "Said",
    "SlackBotMessage",
    "SlackCall",
    "SlackDeletion",
    "SlackDirectMessage",
    "SlackEdit",
    "SlackFile",
    "SlackMention",
    "SlackThreadMessage",
    "StepSeen",
    "ToolCall",
    "ToolRequest",
    "Turn",
    "WebMessage",
    "WebStop",
    "recorded_conversation",
    "reply",
    "slack_bot_message",
    "slack_deletion",
    "slack_direct_message",
    "slack_edit",
    "slack_file",
    "slack_mention",
    "slack_thread_message",
    "tool_call",
    "web_message",
    "web_stop",
]
