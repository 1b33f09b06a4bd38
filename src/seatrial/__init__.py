"""Seatrial runs the agent you ship, whole, against recorded answers of a real model.

These are the names that a test of an agent uses. Everything else in this package is how they work.
"""

from seatrial.conversation import Conversation, Reply, Said, ToolCall, Turn
from seatrial.history import HistoryReply, HistoryTool, reply, tool_call
from seatrial.inputs import Input, WebMessage, WebStop, web_message, web_stop
from seatrial.progress import Actions, ModelRequest, Paused, Progress, ToolRequest

__all__ = [
    "Actions",
    "Conversation",
    "HistoryReply",
    "HistoryTool",
    "Input",
    "ModelRequest",
    "Paused",
    "Progress",
    "Reply",
    "Said",
    "ToolCall",
    "ToolRequest",
    "Turn",
    "WebMessage",
    "WebStop",
    "reply",
    "tool_call",
    "web_message",
    "web_stop",
]
