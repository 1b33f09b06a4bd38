"""The kinds of a model's failure, and the one safe sentence that people see for each.

A provider's own words never leave here.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

FailureKind: TypeAlias = Literal[
    "auth",
    "permission",
    "rate_limit",
    "capacity",
    "timeout",
    "network",
    "server",
    "invalid_request",
    "invalid_response",
    "quota",
    "content_policy",
    "unknown",
]

FAILURE_KINDS: Final[tuple[FailureKind, ...]] = get_args(FailureKind)

RETRIED: Final[frozenset[FailureKind]] = frozenset({"rate_limit", "capacity", "timeout", "network", "server"})
"""The kinds whose first occurrence is worth a second request."""

SENTENCES: Final[dict[FailureKind, str]] = {
    "auth": "I could not answer: the model did not accept my credentials. Whoever runs Bosun has to look.",
    "permission": "I could not answer: I am not allowed to use this model. Whoever runs Bosun has to look.",
    "rate_limit": "I could not answer: the model is getting too many requests. Please try again in a few minutes.",
    "capacity": "I could not answer: the model is overloaded. Please try again in a few minutes.",
    "timeout": "I could not answer in time. Please try again.",
    "network": "I could not answer: the model could not be reached. Please try again in a few minutes.",
    "server": "I could not answer: the model had an internal error. Please try again in a few minutes.",
    "invalid_request": "I could not answer: the model did not accept my request. Whoever runs Bosun has to look.",
    "invalid_response": "I could not answer: the model's answer was not usable. Please try again.",
    "quota": "I could not answer: the model's quota is used up. Whoever runs Bosun has to look.",
    "content_policy": "I could not answer: the model declined this under its content policy.",
    "unknown": "I could not answer because of an unexpected error. Please try again.",
}


class ModelFailure(Exception):
    """A model request failed.

    `kind` decides what is done; the message is for the log of whoever runs Bosun, not for people. `wait_seconds` is how
    long the provider asks to be left alone, None where it does not say.
    """

    def __init__(self, kind: FailureKind, detail: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind: FailureKind = kind
        self.wait_seconds = wait_seconds


def kind_of_status(status: int, code: str | None) -> FailureKind:
    """Map an HTTP status and the provider's error code to a kind.

    Source: the error codes page of the OpenAI API (401, 403, 429 with `insufficient_quota`, 500, 503); 529 is
    what other compatible providers send when they are overloaded.
    """
    if code in ("insufficient_quota", "billing_hard_limit_reached"):
        return "quota"
    if code in ("content_filter", "content_policy_violation"):
        return "content_policy"
    kinds: dict[int, FailureKind] = {
        401: "auth",
        402: "quota",
        403: "permission",
        408: "timeout",
        429: "rate_limit",
        503: "capacity",
        504: "timeout",
        529: "capacity",
    }
    if status in kinds:
        return kinds[status]
    if 400 <= status < 500:
        return "invalid_request"
    return "server" if status >= 500 else "unknown"
