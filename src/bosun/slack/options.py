"""The Slack app that Bosun is: its credentials, and where Slack is. Data alone: an app without Slack may read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

SLACK_URL: Final = "https://slack.com/api/"


@dataclass(frozen=True, kw_only=True)
class SlackOptions:
    """One Slack app in one workspace. Raises `ValueError` for what no request could be made with."""

    bot_token: str = field(repr=False)
    signing_secret: str = field(repr=False)
    account_id: str
    """The account of whoever writes on Slack and is not known otherwise."""
    bot_user_id: str | None = None
    """Bosun's own user, for events that do not say it."""
    base_url: str = SLACK_URL
    """Where Slack's methods are; ends with a slash."""

    def __post_init__(self) -> None:
        for name in ("bot_token", "signing_secret", "account_id"):
            if not getattr(self, name).strip():
                raise ValueError(f"Slack's {name} is empty: give the one of your Slack app")
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.base_url.endswith("/"):
            raise ValueError(
                f"Slack's base_url is {self.base_url!r}: use an address as {SLACK_URL}, with its last slash"
            )
