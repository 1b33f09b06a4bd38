"""The clock seam: what time it is, and how people here count days.

Every instant that Bosun stores, compares or shows comes from a `Clock`. Waiting is another matter: see
`timer.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from zoneinfo import ZoneInfo

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Clock(Protocol):
    """Tells the present instant."""

    def now(self) -> datetime:
        """Return the present instant, with a time zone."""
        ...


@dataclass(frozen=True, kw_only=True)
class CalendarPolicy:
    """How an app counts days: an IANA time zone and the first day of the week.

    Raises `ValueError` for a weekday or a zone that does not exist.
    """

    zone: str = "UTC"
    week_starts: str = "monday"

    def __post_init__(self) -> None:
        if self.week_starts not in WEEKDAYS:
            raise ValueError(f"week_starts is {self.week_starts!r}: use one of {', '.join(WEEKDAYS)}")
        try:
            ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"zone is {self.zone!r}: use an IANA name, for example Europe/Vienna") from error

    def local(self, instant: datetime) -> datetime:
        """Return the same instant on this calendar's wall."""
        return instant.astimezone(ZoneInfo(self.zone))
