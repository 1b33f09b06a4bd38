"""Of an upstream's headers only those on the list get into a recording."""

from __future__ import annotations

from seatrial.gateway.redact import kept_headers


def test_only_listed_headers_are_kept() -> None:
    headers = {"content-type": "application/json", "set-cookie": "s=1", "authorization": "x", "content-length": "3"}
    assert kept_headers(headers) == {"content-type": "application/json"}
