"""The calendar policy says where and how days are counted."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bosun.clock import CalendarPolicy


def test_an_instant_keeps_its_place_across_the_change_to_summer_time() -> None:
    """Vienna went from UTC+1 to UTC+2 at 01:00 UTC on 31 March 2030."""
    vienna = CalendarPolicy(zone="Europe/Vienna")
    assert vienna.local(datetime(2030, 3, 31, 0, 59, tzinfo=UTC)).strftime("%H:%M") == "01:59"
    assert vienna.local(datetime(2030, 3, 31, 1, 0, tzinfo=UTC)).strftime("%H:%M") == "03:00"


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "", "../etc/passwd"])
def test_a_zone_that_does_not_exist_is_refused_by_name(zone: str) -> None:
    """A typing error in the options must not wait for the first turn."""
    with pytest.raises(ValueError, match="zone is"):
        CalendarPolicy(zone=zone)


def test_a_weekday_that_does_not_exist_is_refused_with_the_seven() -> None:
    """The message says what may be written."""
    with pytest.raises(ValueError, match=r"'Monday': use one of monday, .*sunday"):
        CalendarPolicy(week_starts="Monday")
