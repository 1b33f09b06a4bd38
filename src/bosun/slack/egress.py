"""The way out to Slack, put together for one app. An app without Slack does not import it: it loads Slack's client."""

from __future__ import annotations

from bosun.log.reading import ConversationReader
from bosun.slack.actions import SlackActions
from bosun.slack.client import BRIEF_SECONDS, SlackClient
from bosun.slack.delivery import STOPPED, SlackPosts
from bosun.slack.names import SlackNames
from bosun.slack.options import SlackOptions
from bosun.slack.prompts import SlackPrompts
from bosun.slack.statuses import SlackStatuses
from bosun.slack.words import SlackWords
from bosun.timer import Timer


class SlackEgress:
    """What an app can do on Slack. `close` it."""

    stopped = STOPPED

    def __init__(self, options: SlackOptions, *, timer: Timer, reader: ConversationReader) -> None:
        self._patient = SlackClient(options, timer=timer)
        self._brief = SlackClient(options, timer=timer, seconds=BRIEF_SECONDS)
        self.posts = SlackPosts(self._patient, timer)
        self.prompts = SlackPrompts(self._patient)
        self.actions = SlackActions(self._patient, reader)
        self.statuses = SlackStatuses(self._brief)
        self.words = SlackWords(self._brief)
        self.names = SlackNames(self._brief, timer)

    def close(self) -> None:
        """Make no more calls."""
        self._patient.close()
        self._brief.close()
