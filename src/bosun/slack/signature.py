"""Slack's signature (v0): the proof that a request comes from Slack, and not a second time.

It is HMAC-SHA256 over `v0:<timestamp>:<body>`, keyed with the app's signing secret.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import datetime
from typing import Final

TIMESTAMP_HEADER: Final = "X-Slack-Request-Timestamp"
SIGNATURE_HEADER: Final = "X-Slack-Signature"
WINDOW_SECONDS: Final = 300
"""How far a request's timestamp may be from the app's clock, before or after it."""

_VERSION: Final = "v0"
_SECONDS: Final = re.compile(r"[0-9]{1,12}")


class SignatureRefused(Exception):
    """A request that Slack did not sign, or did not sign just now. Its text says why, without any secret."""


class SlackSignature:
    """The signature of one Slack app. Raises `ValueError` without a secret: anybody could sign with that."""

    def __init__(self, signing_secret: str) -> None:
        if not signing_secret.strip():
            raise ValueError("the signing secret is empty: use the one on the Slack app's Basic Information page")
        self._key = signing_secret.encode("utf-8")

    def of(self, timestamp: str, body: bytes) -> str:
        """Return the signature of a body at a timestamp, in Unix seconds."""
        signed = b":".join((_VERSION.encode(), timestamp.encode("utf-8"), body))
        return f"{_VERSION}={hmac.new(self._key, signed, hashlib.sha256).hexdigest()}"

    def check(self, *, timestamps: list[str], signatures: list[str], body: bytes, now: datetime) -> None:
        """Raise `SignatureRefused` unless Slack signed this body within the window around `now`.

        Takes every value that the request has of each header: two of one kind would let a proxy and Bosun read
        different ones.
        """
        timestamp = _only(timestamps, TIMESTAMP_HEADER)
        signature = _only(signatures, SIGNATURE_HEADER)
        if _SECONDS.fullmatch(timestamp) is None:
            raise SignatureRefused(f"{TIMESTAMP_HEADER} is no number of Unix seconds.")
        # In bytes: comparing strings that are not ASCII is an error.
        if not hmac.compare_digest(self.of(timestamp, body).encode(), signature.encode("utf-8", "replace")):
            raise SignatureRefused(f"{SIGNATURE_HEADER} does not fit this body: check the app's signing secret.")
        if abs(now.timestamp() - int(timestamp)) > WINDOW_SECONDS:
            raise SignatureRefused(
                f"{TIMESTAMP_HEADER} is more than {WINDOW_SECONDS} seconds away from Bosun's clock: "
                "send the request anew, and check the clock."
            )


def _only(values: list[str], header: str) -> str:
    if len(values) != 1:
        raise SignatureRefused(f"{header} {'is missing' if not values else 'occurs more than once'}.")
    return values[0]
