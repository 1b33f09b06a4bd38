"""The request headers in which an agent says, in production too, who asks the model and for which conversation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeaderNames:
    """The names of the two headers, without regard to case."""

    role: str
    conversation: str
