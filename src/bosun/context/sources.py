"""Where the account context comes from: a Protocol, and what it returns. A host may supply its own source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class AccountSnapshot:
    """What is known of an account at `updated_at`, a time with a zone."""

    display_name: str
    plan: str
    projects: tuple[str, ...]
    updated_at: datetime

    def __post_init__(self) -> None:
        if self.updated_at.tzinfo is None:
            raise ValueError("an account snapshot's updated_at needs a time zone")


class AccountUnknown(LookupError):
    """There is no account of this id."""


class SnapshotSource(Protocol):
    """Reads accounts for the assembler."""

    async def load(self, account_id: str) -> AccountSnapshot:
        """Return the account as it is now. Raises `AccountUnknown`."""
        ...
