"""What a trial is made of, and the ways in which it cannot be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from seatrial.binding import Binding, Calendar, Composition
from seatrial.gateway.recording import Recording
from seatrial.gateway.upstream import Upstream
from seatrial.idle import IDLE_SECONDS
from seatrial.stores.embedded import StoreUrls


@dataclass(frozen=True)
class TrialSettings:
    """What a trial is made of. ``recording`` is None for a case that was never recorded."""

    binding: Binding
    composition: Composition
    stores: StoreUrls
    at: datetime
    calendar: Calendar
    snapshot: Mapping[str, Any] | None
    recording: Recording | None
    upstream: Upstream | None = None
    upstream_model: str = ""
    """The upstream's name of the agent's model, for recording. Empty: the upstream takes the agent's own."""
    idle_seconds: float = IDLE_SECONDS
    """How long, in real seconds, the agent may take to become idle."""


class TrialBroken(Exception):
    """The trial cannot say anything about the agent. The message says why."""


class TrialInvalid(Exception):
    """A test says something that the agent under test cannot have. The message says what to change."""
