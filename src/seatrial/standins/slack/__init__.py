"""Slack as a trial has it; README.md says what it offers and refuses."""

from seatrial.standins.slack.data import Message
from seatrial.standins.slack.events import Events
from seatrial.standins.slack.faults import Fault
from seatrial.standins.slack.people import People
from seatrial.standins.slack.server import Onlooker, WebApi
from seatrial.standins.slack.workspace import Workspace

__all__ = ["Events", "Fault", "Message", "Onlooker", "People", "WebApi", "Workspace"]
