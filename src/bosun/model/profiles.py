"""Profiles: how a turn may be thought about, for the router to choose from.

An option of an app. A profile that says nothing beside its name and description asks the model as the app's model
options say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bosun.context.escape import one_line

Reasoning: TypeAlias = Literal["low", "medium", "high"]
"""How much a model that reasons does so before it answers; the words of the API's `reasoning_effort`."""

STANDARD: Final = "standard"
"""The profile of every turn that no decision is sure about."""

MOST_PROFILES: Final = 8


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One way to think. Raises `ValueError` for one that the router could not be told of."""

    name: str
    description: str
    """What it is for, in a few words: the router reads them."""
    model: str | None = None
    """The alias that the agent asks for; None is the app's own for the agent."""
    max_tokens: int | None = None
    """The longest answer, in tokens; None is the app's own."""
    takes_reasoning: bool = False
    """Whether its model takes `reasoning_effort`. A model that does not would refuse the request."""

    def __post_init__(self) -> None:
        if not (self.name.isascii() and self.name.replace("-", "").replace("_", "").isalnum()):
            raise ValueError(f"profile {self.name!r}: a name has letters, digits, '-' and '_' alone")
        if not self.description.strip() or one_line(self.description) != self.description:
            raise ValueError(f"profile {self.name!r}: its description has to be one short line without < > and &")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"profile {self.name!r}: max_tokens is {self.max_tokens}: give a number above zero")


DEFAULT_PROFILES: Final = (
    Profile(name="quick", description="thanks, greetings, one fact"),
    Profile(name=STANDARD, description="a question or a small task"),
    Profile(name="deep", description="plans, comparisons, long texts", max_tokens=1200),
)


def check_profiles(profiles: Sequence[Profile]) -> tuple[Profile, ...]:
    """Return the profiles of an app. Raises `ValueError`: none but the standard one has to be there, each once."""
    names = [profile.name for profile in profiles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"profile {twice[0]!r} is there twice: each name is one profile's")
    if STANDARD not in names:
        raise ValueError(f"there is no profile {STANDARD!r}, which every turn has that no decision is sure about")
    if len(names) > MOST_PROFILES:
        raise ValueError(f"there are {len(names)} profiles: no more than {MOST_PROFILES} can be told apart")
    return tuple(profiles)
