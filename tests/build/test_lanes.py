"""Lanes: what the plain run leaves out, and the words that run it."""

from __future__ import annotations

import shlex

from seatrial_build.core.lanes import LANES, command_in, lane_of


def test_the_lane_of_a_target_is_told_by_its_tags() -> None:
    assert [lane_of([lane]) for lane in LANES] == [*LANES]
    assert lane_of(["slow", "stress"]) == "stress"
    assert lane_of(["slow"]) == lane_of([]) == lane_of(None) == ""


def test_the_command_of_a_lane_replaces_the_list_of_what_is_left_out() -> None:
    assert shlex.split(command_in("stress", "./pants")) == ["./pants", "--tag=['stress']"]
    assert command_in("", "./pants") == "./pants"
