"""Unguessable values that are the same in every run of a trial."""

from __future__ import annotations

import hashlib
from collections import Counter


class TrialIds:
    """Source of the values that production takes from the machine's randomness.

    Each value derives from its parent, its kind and its ordinal among those with the same parent and
    kind. No counter is shared, so that work on one conversation never changes the ids of another.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count: Counter[tuple[str, str]] = Counter()

    def nonce(self, parent: str, kind: str) -> str:
        """Return the next value for this parent and kind: 64 hexadecimal digits."""
        ordinal = self._count[parent, kind]
        self._count[parent, kind] += 1
        text = "\0".join((self._seed, parent, kind, str(ordinal)))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
