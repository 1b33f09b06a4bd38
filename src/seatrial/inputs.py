"""What a test can send to an agent: each input goes through the route that production uses."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_AUTHOR = "morgan"
"""Who writes when a test does not say who. An invented person."""

TEAM = "team"
"""Whom a memory is about that is not one person's."""


@dataclass(frozen=True)
class WebMessage:
    """A message that a signed-in person writes on the web."""

    text: str
    author: str = DEFAULT_AUTHOR


@dataclass(frozen=True)
class WebStop:
    """The button by which a signed-in person tells the agent to stop what it does in a conversation."""

    author: str = DEFAULT_AUTHOR


Input = WebMessage | WebStop
"""Any input. The union grows as more routes join."""


def web_message(text: str, *, author: str = DEFAULT_AUTHOR) -> WebMessage:
    """Say what a person wrote on the web. ``author`` is the person's short name."""
    return WebMessage(text=text, author=author)


def web_stop(*, author: str = DEFAULT_AUTHOR) -> WebStop:
    """Say that a person told the agent on the web to stop. It goes to a conversation that is there already."""
    return WebStop(author=author)
