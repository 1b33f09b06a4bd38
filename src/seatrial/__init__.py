"""Seatrial runs the agent you ship, whole, against recorded answers of a real model.

These are the names that a test of an agent uses. Everything else in this package is how they work.
"""

from seatrial.conversation import Conversation, Reply, Said, ToolCall, Turn
from seatrial.history import HistoryReply, HistoryTool, reply, tool_call
from seatrial.inputs import Input, WebMessage, web_message

__all__ = [
    "Conversation",
    "HistoryReply",
    "HistoryTool",
    "Input",
    "Reply",
    "Said",
    "ToolCall",
    "Turn",
    "WebMessage",
    "reply",
    "tool_call",
    "web_message",
]
