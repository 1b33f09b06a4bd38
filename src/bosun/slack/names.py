"""What people are called on Slack."""

from __future__ import annotations

import logging
from typing import Any, Final

from bosun.slack.client import SlackClient, SlackFailure
from bosun.timer import DeadlinePassed, Timer, within

SECONDS: Final = 2.0
"""How long a name is waited for. A message is not kept waiting for it."""


class SlackNames:
    """Asks Slack for display names."""

    def __init__(self, client: SlackClient, timer: Timer) -> None:
        self._client = client
        self._timer = timer

    async def name(self, user_id: str) -> str | None:
        """Return what a person is called, or None when Slack does not say it in time."""
        try:
            told = await within(self._timer, SECONDS, self._client.call(lambda web: web.users_info(user=user_id)))
        except (SlackFailure, DeadlinePassed) as problem:
            logging.getLogger("bosun.slack").warning("the name of %s is not known: %s", user_id, problem)
            return None
        return _display_name(told.get("user"))


def _display_name(user: Any) -> str | None:
    """Choose as Slack does: the display name, the full name, the name of the login."""
    if not isinstance(user, dict):
        return None
    profile = user.get("profile")
    shown = profile if isinstance(profile, dict) else {}
    for name in (shown.get("display_name"), shown.get("real_name"), user.get("real_name"), user.get("name")):
        if isinstance(name, str) and name.strip():
            return name.strip()
    return None
