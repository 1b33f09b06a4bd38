"""The id seam: names derive from what they belong to; only secrets are unguessable."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Protocol


def derive(parent: str, kind: str, ordinal: int | str) -> str:
    """Name the `ordinal`-th thing of a kind within a parent: the same name for ever, on every machine.

    The ordinal is a count or a key that is unique within the parent. The result is `kind:` and 26 characters
    of a to z and 2 to 7 (130 bits), fit for a path segment.
    """
    identity = json.dumps([parent, kind, ordinal], ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(identity.encode("ascii")).digest()
    return f"{kind}:{base64.b32encode(digest).decode('ascii')[:26].lower()}"


class IdSource(Protocol):
    """Makes every id of an app."""

    def derive(self, parent: str, kind: str, ordinal: int | str) -> str:
        """Name a thing by what it belongs to; see the function `derive`."""
        ...

    def nonce(self, parent: str, kind: str) -> str:
        """Return a string that nobody can guess and no other call returns (tokens, leases, consumers)."""
        ...


class DerivedIds:
    """The shared half of every id source: derivation is never replaced, only the nonce is."""

    def derive(self, parent: str, kind: str, ordinal: int | str) -> str:
        """Name a thing by what it belongs to."""
        return derive(parent, kind, ordinal)
