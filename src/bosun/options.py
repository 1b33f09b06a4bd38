"""The options of an app: everything that a host may decide.

Each app is made from its own, and inherits nothing from another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from bosun.background import BackgroundRunner
from bosun.clock import CalendarPolicy, Clock
from bosun.context.sources import SnapshotSource
from bosun.ids import IdSource
from bosun.limits import Limits
from bosun.login.options import LoginOptions
from bosun.mailbox.queue import ConversationQueue
from bosun.mailbox.steering import CrossActor
from bosun.model.options import ModelOptions
from bosun.model.profiles import DEFAULT_PROFILES, Profile
from bosun.prices import Price
from bosun.slack.options import SlackOptions
from bosun.steps import StepSink
from bosun.timer import Timer

__all__ = [
    "BosunOptions",
    "CalendarPolicy",
    "Limits",
    "LoginOptions",
    "ModelOptions",
    "Price",
    "Profile",
    "SlackOptions",
]


@dataclass(frozen=True, kw_only=True)
class BosunOptions:
    """What `create_app` is given. A seam that is None has its production default."""

    postgres_url: str
    redis_url: str
    model: ModelOptions
    limits: Limits = field(default_factory=Limits)
    profiles: tuple[Profile, ...] = DEFAULT_PROFILES
    """How a turn may be thought about; the router chooses. One of them is the standard one."""
    prices: tuple[Price, ...] = ()
    """What models cost. A model without a price has no known cost."""
    plugins: tuple[str, ...] = ()
    """Names of `bosun.plugins`; nothing of a plugin that is not named is imported."""
    cross_actor: CrossActor = "follow_up"
    """What another actor's message does to a running turn."""
    slack: SlackOptions | None = None
    """The Slack app that Bosun is. Without it, nothing of Slack's is imported but these options."""
    login: LoginOptions | None = None
    """How people sign in with a browser. Without it there is no dashboard, and nothing of it is imported."""
    calendar: CalendarPolicy = field(default_factory=CalendarPolicy)
    stale_after: timedelta = timedelta(days=7)
    """Account data older than this says how old it is."""

    clock: Clock | None = None
    timer: Timer | None = None
    ids: IdSource | None = None
    queue: ConversationQueue | None = None
    """Default: Redis Streams."""
    background: BackgroundRunner | None = None
    """Default: a task group that the app awaits at shutdown.

    A host that supplies one lets it finish before the app ends.
    """
    steps: StepSink | None = None
    snapshot_source: SnapshotSource | None = None
    """Default: the accounts and projects tables."""
