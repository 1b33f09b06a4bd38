"""Two apps in one process: what one is told is nothing to the other, whatever the options and whichever is first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from conftest import CountedIds
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st

from bosun.app import create_app
from bosun.clock import CalendarPolicy
from bosun.limits import Limits
from bosun.login.options import LoginOptions
from bosun.model.options import ModelOptions
from bosun.model.profiles import DEFAULT_PROFILES, Profile
from bosun.options import BosunOptions
from bosun.slack.options import SlackOptions

SECONDS = st.floats(min_value=0.5, max_value=1000)
COUNT = st.integers(min_value=1, max_value=200)
LIMITS = st.builds(
    Limits,
    turn_timeout_seconds=SECONDS,
    slice_budget_seconds=SECONDS,
    slices_per_turn=COUNT,
    tool_calls_per_turn=COUNT,
    automated_turns=COUNT,
    workers=COUNT,
    attempts=COUNT,
    drain_seconds=SECONDS,
    context_window_tokens=COUNT,
)
PROFILES = st.sampled_from(
    [DEFAULT_PROFILES, (Profile(name="standard", description="everything", max_tokens=7, takes_reasoning=True),)]
)
SLACK = st.none() | st.builds(
    SlackOptions, bot_token=st.sampled_from(["xoxb-1", "xoxb-2"]), signing_secret=st.just("s"), account_id=st.just("a")
)
LOGIN = st.none() | st.builds(
    LoginOptions, issuer=st.sampled_from(["https://one.example", "https://two.example"]), client_id=st.just("c"),
    client_secret=st.just("d"), public_url=st.just("https://bosun.example"), account_id=st.just("a"),
)  # fmt: skip
OPTIONS = st.builds(
    BosunOptions,
    postgres_url=st.sampled_from(["postgresql:///one", "postgresql:///two"]),
    redis_url=st.sampled_from(["unix:///one", "unix:///two"]),
    model=st.builds(
        ModelOptions,
        base_url=st.sampled_from(["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]),
        default=st.sampled_from(["a", "b"]),
        temperature=st.floats(0, 2),
        max_tokens=COUNT,
        silence_seconds=SECONDS,
    ),
    limits=LIMITS,
    profiles=PROFILES,
    plugins=st.sampled_from([(), ("memory",), ("core",), ("core", "memory")]),
    cross_actor=st.sampled_from(["follow_up", "steer"]),
    slack=SLACK,
    login=LOGIN,
    calendar=st.builds(CalendarPolicy, zone=st.sampled_from(["UTC", "Europe/Vienna"])),
    stale_after=st.timedeltas(timedelta(1), timedelta(9)),
)


PLAIN = (bool, int, float, str, bytes, type(None), timedelta)


def told(value: Any, known: dict[int, tuple[int, Any]], depth: int = 0) -> Any:
    """Describe all that an app is made of, down to plain values, without where it lies in memory."""
    if isinstance(value, PLAIN):
        return value
    if id(value) in known or depth > 12:
        return f"<{type(value).__qualname__} {known[id(value)][0] if id(value) in known else '…'}>"
    known[id(value)] = len(known), value  # kept, so that nothing else is ever found at its place
    if isinstance(value, dict):
        return {str(key): told(each, known, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        each_told = [told(each, known, depth + 1) for each in value]
        return sorted(each_told, key=str) if isinstance(value, set | frozenset) else each_told
    if callable(value) and hasattr(value, "__closure__"):
        cells = [told(cell.cell_contents, known, depth + 1) for cell in value.__closure__ or ()]
        return [value.__qualname__, cells]
    if type(value).__module__.partition(".")[0] != "bosun" and not isinstance(value, FastAPI):
        return type(value).__qualname__
    fields = {**getattr(value, "__dict__", {})}
    fields |= {name: getattr(value, name) for name in getattr(type(value), "__slots__", ()) if hasattr(value, name)}
    return [type(value).__qualname__, {name: told(each, known, depth + 1) for name, each in fields.items()}]


def made(options: BosunOptions) -> Any:
    """Compose an app and return what it is made of: its routes with all that their functions hold."""
    app = create_app(replace(options, ids=CountedIds()))
    routes = [(getattr(route, "path", ""), getattr(route, "endpoint", route)) for route in walk(app.routes)]
    return told([*routes, app.router.lifespan_context], {})


def walk(routes: Any) -> list[Any]:
    found: list[Any] = []
    for route in routes:
        below = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
        found += walk(below) if below else [route]
    return found


@settings(derandomize=True, database=None, deadline=None, max_examples=40)
@given(one=OPTIONS, other=OPTIONS)
def test_what_an_app_is_made_of_hangs_on_its_own_options_alone(one: BosunOptions, other: BosunOptions) -> None:
    before = made(one)
    between = made(other)
    assert made(one) == before
    assert made(other) == between
    assert len(str(before)) > 2000
    if one != other:
        assert before != between
