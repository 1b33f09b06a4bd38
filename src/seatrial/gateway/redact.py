"""Which headers of an upstream may get into a recording. What its bodies may not hold says `secret_search`."""

from __future__ import annotations

from collections.abc import Mapping

# All else in an upstream's headers is about the transport, its limits or its account.
KEPT_HEADERS = ("content-type",)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may be recorded. Names in lower case."""
    return {name: headers[name] for name in KEPT_HEADERS if name in headers}
